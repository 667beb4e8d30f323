"""Users' plugins in the loop: filters, scores, Reserve, Permit, PreBind, Bind and errors."""

from functools import partial
from typing import Any, ClassVar

import pytest

from seatrial.model.errors import ConfigError
from seatrial.model.times import SECOND
from seatrial.plugins import Action, Plugin, Requeue, Wait, error, requeue, unschedulable
from seatrial.scheduler.config import ConfigurationError, load_configuration
from seatrial.store import Change
from tests.proofs import proves
from tests.scheduler.metrics.test_scheduler_metrics import measured
from tests.scheduler.scheduler_world import World, enabled, profiles


class QuietNodes(Plugin):
    def filter_one(self, pod: Any, node: Any) -> Any:
        return node.labels.get("noisy") != "true" or "node(s) were noisy"

    def score_one(self, pod: Any, node: Any) -> int:
        return 100 - 10 * len(node.pods)


@proves("MP-010", "MP-018")
def test_a_plugin_is_a_small_class_enabled_by_its_name() -> None:
    """Filter and score of one node, through MultiPoint alone."""
    world = World(enabled("QuietNodes"), [QuietNodes])
    world.node("n1", labels={"noisy": "true"})
    world.node("n2")
    world.pod("a")
    (decision,) = world.run()
    assert (decision.node, "QuietNodes" in decision.filter_plugins) == ("n2", True)


def test_a_rejection_by_a_plugin_has_its_text() -> None:
    world = World(enabled("QuietNodes"), [QuietNodes])
    world.node("n1", labels={"noisy": "true"})
    world.pod("a")
    (decision, *_) = world.run()
    assert "1 node(s) were noisy" in decision.message
    world.change("Node", "n1", lambda node: node["metadata"]["labels"].pop("noisy"))
    world.run()
    assert world.node_of("a") == "n1"


def test_arguments_reach_the_plugin() -> None:
    class Only(Plugin):
        def filter_one(self, pod: Any, node: Any) -> bool:
            return bool(node.name == self.args["node"])

    plugins = {"multiPoint": {"enabled": [{"name": "Only"}]}}
    args = [{"name": "Only", "args": {"node": "n2"}}]
    world = World(profiles({"plugins": plugins, "pluginConfig": args}), [Only])
    for name in ("n1", "n2", "n3"):
        world.node(name)
    world.pod("a")
    world.run()
    assert world.node_of("a") == "n2"


def test_a_hint_says_which_event_helps() -> None:
    class Keyed(Plugin):
        def filter_one(self, pod: Any, node: Any) -> bool:
            return "key" in node.labels

        @requeue.on("Node", Action.ADD | Action.UPDATE_NODE_LABEL)
        def has_key(self, pod: Any, old: Any, new: Any) -> bool:
            return "key" in new.labels

    world = World(enabled("Keyed"), [Keyed])
    world.node("n1")
    world.pod("a")
    world.run()
    world.change("Node", "n1", lambda node: node["metadata"]["labels"].update(other="x"))
    assert not world.scheduler.has_work()
    world.change("Node", "n1", lambda node: node["metadata"]["labels"].update(key="x"))
    world.run()
    assert world.node_of("a") == "n1"


class Holding(Plugin):
    """Holds every pod for ten seconds."""

    requeues: ClassVar[tuple[Requeue, ...]] = (Requeue("Pod", Action.DELETE),)

    def permit(self, pod: Any, node: Any, state: Any) -> Wait:
        return Wait(10 * SECOND)


def held() -> World:
    world = World(enabled("Holding"), [Holding])
    world.node("n1", cpu="1")
    world.pod("a")
    (decision,) = world.run()
    assert (decision.outcome, decision.permit_timeouts) == ("waiting", (("Holding", 10 * SECOND),))
    return world


def waiting_pod(world: World) -> Any:
    plugin = world.scheduler.frameworks["default-scheduler"].plugin("Holding")
    assert plugin is not None
    (waiting,) = plugin.handle.shared["waiting_pods"]
    return waiting


def test_a_held_pod_keeps_its_room_and_names_its_node() -> None:
    world = held()
    assert (world.node_of("a"), world.document("a")["status"]["nominatedNodeName"]) == ("", "n1")
    world.pod("b")
    (decision,) = world.run()
    assert (decision.pod, decision.outcome) == ("default/b", "unschedulable")
    assert not world.scheduler.has_work()


def test_a_held_pod_that_is_allowed_is_bound() -> None:
    world = held()
    waiting_pod(world).allow("Holding")
    (decision,) = world.run()
    assert (decision.outcome, world.node_of("a")) == ("scheduled", "n1")
    assert "nominatedNodeName" not in world.document("a")["status"]


def test_a_held_pod_that_is_rejected_goes_back() -> None:
    world = held()
    waiting_pod(world).reject("Holding", "not today")
    decision, again = world.run()
    assert (decision.outcome, decision.message) == ("unschedulable", "0/1 nodes are available: 1 not today.")
    assert decision.rejected_by == ("Holding",)
    assert (again.pod, again.outcome) == ("default/a", "waiting")


def test_a_held_pod_is_rejected_when_its_time_is_up() -> None:
    world = held()
    assert world.clock.fire_next(outer=False)
    (decision, *_) = world.run()
    assert "rejected due to timeout after waiting 10s at plugin Holding" in decision.message


def test_a_held_pod_that_is_deleted_gives_its_room_back() -> None:
    world = held()
    world.delete("Pod", "a")
    world.run()
    world.pod("b")
    assert world.run()[-1].outcome == "waiting"


def test_a_reservation_that_fails_is_undone() -> None:
    undone: list[str] = []

    class Full(Plugin):
        def reserve(self, pod: Any, node: Any, state: Any) -> Any:
            return unschedulable("no licence left")

        def unreserve(self, pod: Any, node: Any, state: Any) -> None:
            undone.append(pod.name)

    world = World(enabled("Full"), [Full])
    world.node("n1", cpu="1")
    world.pod("a")
    (decision, *_) = world.run()
    assert (decision.message, undone[0]) == ("0/1 nodes are available: 1 no licence left.", "a")
    assert world.scheduler.table.find("n1").pods == []  # type: ignore[union-attr]


def test_an_error_waits_its_backoff_out_and_ends_in_the_status() -> None:
    class Broken(Plugin):
        failures = 2

        def pre_bind(self, pod: Any, node: Any, state: Any) -> Any:
            Broken.failures -= 1
            return error("disk on fire") if Broken.failures >= 0 else None

    world = World(enabled("Broken"), [Broken])
    world.node("n1")
    world.pod("a")
    (decision,) = world.run()
    assert (decision.outcome, world.condition("a")["reason"]) == ("error", "SchedulerError")
    assert decision.message == 'running PreBind plugin "Broken": disk on fire'
    for _ in range(2):
        assert world.clock.fire_next(outer=False)
        world.run()
    assert world.node_of("a") == "n1"


def test_a_pod_rests_after_three_equal_errors_until_something_changes() -> None:
    class Broken(Plugin):
        def pre_filter(self, pod: Any, nodes: Any) -> Any:
            return error("always")

    world = World(enabled("Broken"), [Broken])
    world.node("n1")
    world.pod("a")
    assert len(world.run_out()) == 3
    assert list(world.scheduler.queue.unschedulable.resting) == ["default/a"]
    assert world.run_out() == []
    world.node("n2")
    assert len(world.run_out()) == 3


def test_a_sweep_tries_a_resting_pod_once() -> None:
    class Broken(Plugin):
        def pre_filter(self, pod: Any, nodes: Any) -> Any:
            return error("always")

    world = World(enabled("Broken"), [Broken])
    world.node("n1")
    world.pod("a")
    world.run_out()
    world.scheduler.sweep()
    assert len(world.run_out()) == 1


def test_errors_are_retried_for_ever_in_real_time() -> None:
    class Broken(Plugin):
        def pre_filter(self, pod: Any, nodes: Any) -> Any:
            return error("always")

    world = World(enabled("Broken"), [Broken], retries_errors=True)
    world.node("n1")
    world.pod("a")
    world.run_out(most=6)
    assert [queued.pod.name for queued in world.scheduler.queue.backoff] == ["a"]


def test_errors_that_differ_are_no_reason_to_rest() -> None:
    class Broken(Plugin):
        calls = 0

        def pre_filter(self, pod: Any, nodes: Any) -> Any:
            Broken.calls += 1
            return error(f"number {Broken.calls}")

    world = World(enabled("Broken"), [Broken])
    world.node("n1")
    world.pod("a")
    assert len(world.run_out()) == 6
    assert not world.scheduler.queue.unschedulable.resting


@proves("MP-044")
def test_a_bad_configuration_never_starts() -> None:
    """And nothing that runs is touched."""
    with pytest.raises(ConfigurationError):
        load_configuration(enabled("Nobody"))


def test_a_plugin_that_implements_nothing_is_refused() -> None:
    class Nothing(Plugin):
        pass

    with pytest.raises(ConfigError, match="implements no extension point"):
        World(enabled("Nothing"), [Nothing])


@proves("MP-045")
def test_attempts_are_counted_by_result() -> None:
    world = measured()
    world.node("n1", cpu="1")
    world.pod("a")
    world.pod("b")
    world.run()
    text = world.scheduler.metrics.text({})
    assert 'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1' in text
    assert 'scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1' in text


@proves("MP-046")
def test_multipoint_adds_no_kind_and_no_request() -> None:
    """Served kinds and writes are those of a configuration that names every point."""

    class Picky(Plugin):
        def filter_one(self, pod: Any, node: Any) -> bool:
            return bool(node.name == "n2")

        def score_one(self, pod: Any, node: Any) -> int:
            return 1

    def note(made: list[tuple[str, ...]], change: Change) -> None:
        made.append((change.stored.kind.kind, change.type, change.subresource, change.writer))

    plugins = {point: {"enabled": [{"name": "Picky"}]} for point in ("filter", "score")}
    explicit = {**enabled(), "profiles": [{"plugins": plugins}]}
    kinds, writes = [], []
    for configuration in (enabled("Picky"), explicit):
        world = World(configuration, [Picky])
        made: list[tuple[str, ...]] = []
        world.store.subscribe(partial(note, made))
        world.node("n1")
        world.node("n2")
        world.pod("a")
        world.run()
        assert world.node_of("a") == "n2"
        kinds.append({kind.resource for kind in world.store.kinds})
        writes.append(made)
    assert kinds[0] == kinds[1]
    assert writes[0] == writes[1]
    assert not any("kubescheduler" in name for name in kinds[0])


@proves("MP-022")
def test_a_plugin_cannot_restrict_its_extension_points() -> None:
    """Whatever it says of itself: MultiPoint enables all it implements, and only the configuration leaves one out."""
    asked: list[str] = []

    class Shy(Plugin):
        points = extension_points = enabled_points = ("score",)
        unimplemented_points = ("filter",)

        def filter_one(self, pod: Any, node: Any) -> bool:
            asked.append("filter")
            return True

        def score_one(self, pod: Any, node: Any) -> int:
            asked.append("score")
            return 1

    def points_asked(configuration: dict[str, Any]) -> set[str]:
        asked.clear()
        world = World(configuration, [Shy])
        world.node("n1")
        world.node("n2")
        world.pod("a")
        world.run()
        return set(asked)

    both = enabled("Shy")
    assert points_asked(both) == {"filter", "score"}
    plugins = {**both["profiles"][0]["plugins"], "filter": {"disabled": [{"name": "Shy"}]}}
    assert points_asked({**both, "profiles": [{**both["profiles"][0], "plugins": plugins}]}) == {"score"}


class Groups(Plugin):
    """Rejects pods until the pod `leader` is bound, and then brings them back."""

    requeues = (Requeue("CSINode", Action.ADD),)
    where = "permit"
    led: ClassVar[list[Any]] = []

    def filter_one(self, pod: Any, node: Any) -> Any:
        if pod.name == "leader" or any(other.name == "leader" for other in node.pods):
            return True
        self.led.append(pod)
        return "waits for its leader"

    def permit(self, pod: Any, node: Any, state: Any) -> None:
        self._activate("permit", pod)

    def post_bind(self, pod: Any, node: Any, state: Any) -> None:
        self._activate("post_bind", pod)

    def _activate(self, point: str, pod: Any) -> None:
        if point == self.where and pod.name == "leader":
            for other in self.led:
                self.handle.pods_to_activate.add(other)


@pytest.mark.parametrize("where", ["permit", "post_bind"])
def test_a_plugin_activates_pods_when_another_one_is_scheduled(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Groups, "where", where)
    monkeypatch.setattr(Groups, "led", [])
    world = World(enabled("Groups"), [Groups])
    world.node("n1")
    world.pod("a")
    world.run()
    assert world.node_of("a") == ""
    world.pod("leader")
    world.run()
    assert (world.node_of("leader"), world.node_of("a")) == ("n1", "n1")


def test_an_attempt_that_fails_activates_no_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Groups, "led", [])
    monkeypatch.setattr(Groups, "permit", lambda self, pod, node, state: self._refuse(pod))

    def refuse(self: Any, pod: Any) -> Any:
        self._activate("permit", pod)
        return unschedulable("no")

    monkeypatch.setattr(Groups, "_refuse", refuse, raising=False)
    world = World(enabled("Groups"), [Groups])
    world.node("n1")
    world.pod("a")
    world.run()
    world.pod("leader")
    decisions = world.run()
    assert {decision.pod for decision in decisions} == {"default/leader"}


class Signed(Plugin):
    """Never content; counts how often it is asked."""

    requeues = (Requeue("CSINode", Action.ADD),)
    asked: ClassVar[int] = 0

    def filter_one(self, pod: Any, node: Any) -> Any:
        type(self).asked += 1
        return f"no room for {pod.annotations.get('colour', 'any')}"

    def sign(self, pod: Any) -> Any:
        colour = pod.annotations.get("colour")
        return unschedulable("like no other") if colour == "unique" else {"colour": colour}


def test_pods_that_a_plugin_signs_alike_fail_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Signed, "asked", 0)
    world = World(enabled("Signed"), [Signed])
    world.node("n1")
    for name, colour in (("r1", "red"), ("r2", "red"), ("b", "blue"), ("u1", "unique"), ("u2", "unique")):
        world.pod(name)
        world.change("Pod", name, lambda d, c=colour: d["metadata"].__setitem__("annotations", {"colour": c}))
    decisions = world.run()
    assert [decision.pod for decision in decisions] == [f"default/{name}" for name in ("r1", "r2", "b", "u1", "u2")]
    assert Signed.asked == 4
    messages = [world.condition(name)["message"] for name in ("r1", "r2", "b")]
    assert ["red" in text for text in messages] == [True, True, False]
