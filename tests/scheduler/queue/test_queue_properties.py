"""Whatever happens, no pod is lost, none is twice in the queue, and order is kept."""

from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.clock.virtual import Clock
from seatrial.model.times import SECOND
from seatrial.scheduler.cache.pod_info import PodInfo, PodReader
from seatrial.scheduler.framework.events import NODE_ADD, ClusterEvent, Registration
from seatrial.scheduler.framework.interface import Action
from seatrial.scheduler.framework.status import SUCCESS, unschedulable
from seatrial.scheduler.queue import PodNominator, QueuedPod, SchedulingQueue

READER = PodReader()
NAMES = [f"p{number}" for number in range(6)]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "delete", "update", "pop", "reject", "break", "event", "sweep", "gate", "wait"]),
        st.sampled_from(NAMES),
        st.integers(0, 3),
    ),
    max_size=60,
)


def pod(name: str, priority: int) -> PodInfo:
    metadata = {"name": name, "namespace": "ns", "uid": name}
    return READER.read({"metadata": metadata, "spec": {"priority": priority}})


class Model:
    """What there should be: pods that exist, and those that somebody is scheduling."""

    def __init__(self, alike_in: tuple[str, ...] = ()) -> None:
        self.clock = Clock()
        self.pods: dict[str, PodInfo] = {}
        self.flying: dict[str, QueuedPod] = {}
        self.gated: set[str] = set()
        interest = [
            Registration(ClusterEvent("Node", Action.ADD), lambda pod, old, new: pod.priority >= new),
            Registration(ClusterEvent("Pod", Action.ALL)),
        ]
        self.queue = SchedulingQueue(
            self.clock,
            PodNominator(lambda pod: self.pods.get(pod.name)),
            hints={"default-scheduler": {"Fit": interest, "Gates": interest}},
            gates={
                "default-scheduler": [("Gates", lambda p: unschedulable("no") if p.name in self.gated else SUCCESS)]
            },
            alike_in=alike_in,
        )

    def step(self, action: str, name: str, number: int) -> None:
        known = self.pods.get(name)
        match action:
            case "add" if known is None and name not in self.flying:
                self.pods[name] = pod(name, number)
                self.queue.add(self.pods[name])
            case "delete" if known is not None:
                del self.pods[name]
                self.queue.delete(known)
            case "update" if known is not None:
                self.pods[name] = pod(name, number)
                self.queue.update(known, self.pods[name])
            case "pop":
                self._pop()
            case "reject" | "break" if self.flying:
                self._return(next(iter(self.flying)), action == "reject")
            case "event":
                self.queue.move_all(NODE_ADD, None, number)
            case "sweep":
                self.queue.sweep()
            case "gate":
                self.gated ^= {name}
            case "wait":
                self.clock.advance(self.clock.now() + number * SECOND)

    def _pop(self) -> None:
        waiting = [queued.pod.priority for queued in self.queue.active]
        had_work = self.queue.has_work()
        queued = self.queue.pop()
        assert (queued is not None) == had_work
        if queued is not None:
            assert queued.pod.priority >= max(waiting, default=queued.pod.priority)
            self.flying[queued.pod.name] = queued

    def _return(self, name: str, rejected: bool) -> None:
        queued = self.flying.pop(name)
        queued.unschedulable_plugins = frozenset(("Fit",)) if rejected else frozenset()
        if name in self.pods:
            queued.pod = self.pods[name]
            self.queue.add_unschedulable(queued)
        else:
            self.queue.done(name)

    def check(self) -> None:
        present = [queued.pod.name for queued in self.queue.pending()]
        assert len(present) == len(set(present))
        assert set(present) == set(self.pods) - set(self.flying)
        assert all(name in self.queue.in_flight for name in self.flying)


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_no_pod_is_lost_or_doubled(steps: list[tuple[str, str, int]]) -> None:
    model = Model()
    for action, name, number in steps:
        model.step(action, name, number)
        model.check()


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_pods_that_share_answers_of_hints_move_as_if_each_were_asked(steps: list[tuple[str, str, int]]) -> None:
    alone, together = Model(), Model(alike_in=("default-scheduler",))
    for action, name, number in steps:
        alone.step(action, name, number)
        together.step(action, name, number)
        places = [
            [[queued.key for queued in place] for place in (queue.active, queue.backoff, queue.unschedulable)]
            for queue in (alone.queue, together.queue)
        ]
        assert [sorted(keys) for keys in places[0]] == [sorted(keys) for keys in places[1]]
        assert list(alone.flying) == list(together.flying)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 5), max_size=30))
def test_pods_come_by_priority_and_then_by_arrival(priorities: list[int]) -> None:
    model = Model()
    for number, priority in enumerate(priorities):
        model.queue.add(pod(f"q{number}", priority))
    popped = [(queued.pod.priority, int(queued.pod.name[1:])) for queued in iter(model.queue.pop, None)]
    assert popped == sorted(((p, n) for n, p in enumerate(priorities)), key=lambda pair: (-pair[0], pair[1]))
