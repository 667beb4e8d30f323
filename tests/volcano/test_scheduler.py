"""Volcano's scheduler on a store: sessions when something has changed, and what they write."""

from typing import Protocol

from seatrial.clock.virtual import Clock
from seatrial.controllers.registry import build_controllers as kubernetes_controllers
from seatrial.model.documents import Document
from seatrial.store.store import Store
from seatrial.volcano.apis import POD_GROUP, QUEUE, kind_of
from seatrial.volcano.config import load_conf
from seatrial.volcano.controllers.registry import build_controllers
from seatrial.volcano.scheduler import SCHEDULE_PERIOD, VolcanoScheduler
from tests.volcano.objects import create, job, queue, task, volcano_store


class Actor(Protocol):
    """A controller or the scheduler."""

    def start(self) -> None: ...
    def has_work(self) -> bool: ...
    def work(self) -> bool: ...


class Cluster:
    """A store with Volcano and the life of pods, driven until nothing is left to do."""

    def __init__(self, *nodes: str, events: bool = False, cpu: str = "4", conf: str = "") -> None:
        self.clock = Clock()
        self.store: Store = volcano_store(self.clock)
        self.scheduler = VolcanoScheduler(self.store, self.clock, load_conf(conf) if conf else None, events=events)
        self._actors: list[Actor] = [
            build_controllers(self.store, self.clock),
            *kubernetes_controllers(self.store, self.clock, ["pod", "node"]),
        ]
        for name in nodes:
            self.create(
                {
                    "apiVersion": "v1",
                    "kind": "Node",
                    "metadata": {"name": name},
                    "status": {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}},
                }
            )
        for actor in self._everyone():
            actor.start()

    def _everyone(self) -> list[Actor]:
        return [*self._actors, self.scheduler]

    def create(self, document: Document) -> Document:
        return create(self.store, document)

    def settle(self, most: int = 200) -> None:
        for _ in range(most):
            busy = [actor for actor in self._everyone() if actor.has_work()]
            for actor in busy:
                actor.work()
            if not busy and not self.clock.fire_next(outer=False):
                return
        raise AssertionError("the cluster does not come to rest")

    def run_session(self) -> None:
        """Lets the controllers finish, and runs a session if one is due."""
        while any(actor.work() for actor in self._actors):
            pass
        self.scheduler.work()

    def pods(self) -> list[Document]:
        return [stored.document() for stored in self.store.list(kind_of(self.store, ("v1", "Pod")))]

    def group_of(self, name: str) -> Document:
        groups = [stored.document() for stored in self.store.list(kind_of(self.store, POD_GROUP))]
        (found,) = [group for group in groups if group["metadata"]["name"].startswith(name)]
        return found


def test_a_gang_that_fits_runs() -> None:
    cluster = Cluster("n1")
    cluster.create(job("train", task(replicas=3)))
    cluster.settle()
    assert [pod["spec"].get("nodeName") for pod in cluster.pods()] == ["n1"] * 3
    assert cluster.group_of("train")["status"]["phase"] == "Running"
    assert cluster.group_of("train")["status"]["running"] == 3
    stored = cluster.store.get(kind_of(cluster.store, QUEUE), "default").document()
    assert stored["status"]["allocated"] == {"cpu": "3", "memory": "3Gi", "pods": "3"}
    assert stored["status"]["reservation"] == {}


def test_a_gang_that_overcommits_the_cluster_is_not_let_in_and_says_why() -> None:
    cluster = Cluster("n1")
    cluster.create(job("train", task(replicas=6)))
    cluster.settle()
    assert cluster.pods() == []
    assert cluster.group_of("train")["status"]["phase"] == "Pending"
    (waiting,) = cluster.scheduler.waiting
    assert waiting.plugin == "overcommit" and waiting.job.queue == "default"
    assert "is not let in by plugin overcommit" in waiting.text


def test_a_quota_of_the_cluster_keeps_a_job_out() -> None:
    cluster = Cluster(
        "n1", conf='actions: "enqueue, allocate"\ntiers: [{plugins: [{name: gang}, {name: resourcequota}]}]'
    )
    quota = {"metadata": {"name": "small", "namespace": "default"}, "spec": {"hard": {"cpu": "2"}}}
    cluster.create({"apiVersion": "v1", "kind": "ResourceQuota", **quota})
    cluster.store.modify(
        kind_of(cluster.store, ("v1", "ResourceQuota")),
        "small",
        lambda document: document.update(status={"hard": {"cpu": "2"}, "used": {"cpu": "0"}}),
        writer="user",
        subresource="status",
        namespace="default",
    )
    cluster.create(job("train", task(replicas=3)))
    cluster.settle()
    assert cluster.group_of("train")["status"]["phase"] == "Pending"
    (waiting,) = cluster.scheduler.waiting
    assert waiting.plugin == "resourcequota"


def test_sessions_are_a_second_apart_and_end_when_nothing_changes() -> None:
    cluster = Cluster("n1")
    began = cluster.clock.now()
    cluster.create(job("train", task(replicas=1)))
    cluster.settle()
    assert 1_000_000 <= cluster.clock.now() - began <= 5_000_000
    assert not cluster.scheduler.has_work()


def test_a_gang_that_is_let_in_but_does_not_fit_waits_without_holding_anything() -> None:
    cluster = Cluster("n1", "n2")  # 8 cpus, in two parts
    heavy = task(replicas=2)
    heavy["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1500m"
    too_large = task(replicas=1)
    too_large["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "5"
    cluster.create(job("wide", too_large))
    cluster.create(job("train", heavy))
    cluster.settle()
    bound = {pod["metadata"]["name"] for pod in cluster.pods() if pod["spec"].get("nodeName")}
    assert bound == {"train-work-0", "train-work-1"}
    pod = next(pod for pod in cluster.pods() if pod["metadata"]["name"] == "wide-work-0")
    condition = next(c for c in pod["status"]["conditions"] if c["type"] == "PodScheduled")
    assert condition["status"] == "False" and condition["reason"] == "Unschedulable"
    assert "2 Insufficient cpu" in condition["message"]
    (waiting,) = cluster.scheduler.waiting
    assert "fits on no node" in waiting.text and "Insufficient cpu" in waiting.text


def test_a_closed_queue_lets_nothing_in() -> None:
    cluster = Cluster("n1")
    cluster.create(queue("research", weight=1))
    cluster.settle()
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "late", "namespace": "default"},
        "spec": {"minMember": 1, "queue": "research", "minResources": {"cpu": "1"}},
    }
    cluster.store.create(kind_of(cluster.store, POD_GROUP), group, writer="user", namespace="default")
    cluster.store.modify(
        kind_of(cluster.store, QUEUE),
        "research",
        lambda document: document["status"].update(state="Closed"),
        writer="user",
        subresource="status",
    )
    for _ in range(5):
        cluster.clock.advance(cluster.clock.now() + 1_000_000)
        cluster.scheduler.work()
    assert cluster.group_of("late")["status"]["phase"] == "Pending"
    assert [entry.plugin for entry in cluster.scheduler.waiting] == ["proportion"]


def test_events_are_counted_rather_than_repeated() -> None:
    cluster = Cluster("n1", events=True)
    cluster.create(job("train", task(replicas=6)))
    cluster.settle()
    for _ in range(3):
        cluster.scheduler.sweep()
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"ns-{_}"}})
        cluster.settle()
    events = [stored.document() for stored in cluster.store.list(kind_of(cluster.store, ("v1", "Event")))]
    overused = [event for event in events if event["message"].startswith("resource in cluster is overused")]
    assert len(overused) == 1 and overused[0]["count"] > 1
    assert overused[0]["involvedObject"]["kind"] == "PodGroup"


def test_a_change_at_the_moment_of_the_next_session_is_not_forgotten() -> None:
    cluster = Cluster("n1")

    def arrive() -> None:
        cluster.create(job("train", task()))
        cluster.run_session()

    cluster.clock.after(SCHEDULE_PERIOD, arrive)
    cluster.run_session()
    cluster.create(queue("first"))
    cluster.settle()
    assert [pod["spec"].get("nodeName") for pod in cluster.pods()] == ["n1"]
