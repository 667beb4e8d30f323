"""Controllers in a scenario: pre-simulation ones, simulated ones, and those of users."""

import itertools
from typing import Any

import pytest

from seatrial.clock.virtual import START
from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError
from seatrial.model.times import SECOND
from seatrial.scenario.dry_run import rehearse
from seatrial.scenario.engine.controller_registry import Registry
from seatrial.scenario.engine.participants import ControllerWaiter
from seatrial.scenario.engine.user_controllers import Cluster, UserController
from seatrial.scenario.options import SimulationOptions
from seatrial.store import Change
from tests.proofs import proves
from tests.scenario.playing import Stage, create, done, events, kinds_of, node, operations, pod


class Ping(UserController):
    name = "ping"
    watches = ("v1/Node",)

    def reconcile(self, cluster: Cluster, object: Document) -> None:
        labels = object["metadata"].get("labels", {})
        if labels.get("last") != self.name:
            turn = str(int(labels.get("turn", "0")) + 1)
            patch = {"metadata": {"labels": {"last": self.name, "turn": turn}}}
            cluster.patch("v1/Node", object["metadata"]["name"], patch)


class Pong(Ping):
    name = "pong"


class PodPerNode(UserController):
    """Creates a pod for each node, after a delay if there is one."""

    name = "podpernode"
    watches = ("v1/Node",)
    delay = ""

    def reconcile(self, cluster: Cluster, object: Document) -> None:
        if self.delay and "waited" not in self.__dict__:
            self.__dict__["waited"] = True
            cluster.again_after(self.delay)
            return
        cluster.create_once(pod(f"on-{object['metadata']['name']}"))


class SlowPodPerNode(PodPerNode):
    delay = "90s"


class NodePerPod(UserController):
    """A toy autoscaler: a node for each pod that has none."""

    name = "nodeperpod"
    watches = ("v1/Pod",)

    def reconcile(self, cluster: Cluster, object: Document) -> None:
        if not object["spec"].get("nodeName"):
            cluster.create_once(node(f"for-{object['metadata']['name']}", pods=1))


def with_own(*controllers: type[UserController]) -> SimulationOptions:
    registry = Registry()
    for controller in controllers:
        registry.register(controller)
    return SimulationOptions(registry=registry)


DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    },
}


@proves("V2-010", "V2-046", "V2-055", "V2-060")
def test_all_registered_controllers_prepare_by_default() -> None:
    """What they write is in the timeline, at the minor of the operation."""
    stage = Stage(operations(create(1, node("n")), create(1, DEPLOYMENT), done(1)))
    timeline = stage.run()["scenarioResult"]["timeline"]["1"]
    created = [entry["create"]["result"]["kind"] for entry in timeline if "create" in entry]
    assert created == ["Node", "Deployment", "ReplicaSet", "Pod", "Pod"]
    assert {entry["step"]["minor"] for entry in timeline if "create" in entry} == {0}


def test_in_the_first_spelling_controllers_write_while_operating() -> None:
    stage = Stage(events(create(1, node("n")), create(1, DEPLOYMENT), done(1)))
    timeline = stage.run()["scenarioResult"]["timeline"]["1"]
    assert [entry["operation"] for entry in timeline].count("Create") == 5
    assert [entry["operation"] for entry in timeline][-2:] == ["PodScheduled", "PodScheduled"]


@proves("V2-011")
def test_a_disabled_controller_does_nothing() -> None:
    chosen = {"disabled": [{"name": "deployment"}]}
    stage = Stage(operations(create(1, DEPLOYMENT), done(1), presimulationControllers=chosen))
    stage.run()
    assert stage.all("ReplicaSet", "apps/v1") == []


@proves("V2-016")
def test_a_star_disables_all() -> None:
    chosen = {"disabled": [{"name": "*"}]}
    stage = Stage(operations(create(1, node("n")), create(1, DEPLOYMENT), done(1), presimulationControllers=chosen))
    assert kinds_of(stage.run(), "1") == ["create", "create", "done"]


def test_a_star_with_enabled_leaves_those() -> None:
    chosen = {"disabled": [{"name": "*"}], "enabled": [{"name": "deployment"}]}
    stage = Stage(operations(create(1, DEPLOYMENT), done(1), presimulationControllers=chosen))
    stage.run()
    assert len(stage.all("ReplicaSet", "apps/v1")) == 1
    assert stage.all("Pod") == []


@proves("V2-010", "V2-013")
def test_a_simulated_controller_does_not_prepare() -> None:
    """The ReplicaSet controller as the target takes minor steps of its own."""
    stage = Stage(operations(create(1, DEPLOYMENT), done(1), simulated=["replicaset"]))
    timeline = stage.run()["scenarioResult"]["timeline"]["1"]
    minors = [entry["step"]["minor"] for entry in timeline if "create" in entry]
    assert minors == [0, 0, 1, 1]
    assert stage.tried == []


@proves("V2-075")
def test_several_writes_of_one_loop_share_the_minor() -> None:
    stage = Stage(operations(create(1, {**DEPLOYMENT}), done(1), simulated=["replicaset"]))
    assert stage.run()["stepStatus"]["step"] == {"major": 1, "minor": 1}


@proves("V2-013", "V2-056")
def test_simulated_controllers_run_in_the_order_they_are_enabled() -> None:
    orders = []
    for names in (["podpernode", "ping"], ["ping", "podpernode"]):
        stage = Stage(operations(create(1, node("n")), done(1), simulated=names), with_own(PodPerNode, Ping))
        timeline = stage.run()["scenarioResult"]["timeline"]["1"]
        orders.append([next(key for key in entry if key not in ("id", "step")) for entry in timeline[2:]])
    assert orders == [["create", "patch"], ["patch", "create"]]


@proves("V2-001", "V2-034", "V2-069", "V2-070")
def test_the_step_ends_when_nobody_can_do_anything_more() -> None:
    """The autoscaler's nodes give the scheduler new work in the same step."""
    stage = Stage(
        operations(create(1, pod("a")), create(1, pod("b")), done(1), simulated=["scheduler", "nodeperpod"]),
        with_own(NodePerPod),
    )
    status = stage.run()
    assert status["phase"] == "Succeeded"
    assert {p["spec"]["nodeName"] for p in stage.all("Pod")} == {"for-a", "for-b"}
    running = [s["stepStatus"]["runningSimulationController"] for s in stage.log if "stepStatus" in s]
    turns = [name for place, name in enumerate(running) if running[place - 1] != name]
    assert turns[:5] == ["", "scheduler", "nodeperpod", "scheduler", "nodeperpod"]


@proves("V2-069")
def test_the_running_controller_changes_only_after_it_has_completed() -> None:
    spec = operations(create(1, pod("a")), done(1), simulated=["scheduler", "nodeperpod"])
    stage = Stage(spec, with_own(NodePerPod))
    stage.run()
    steps = [s["stepStatus"] for s in stage.log if "stepStatus" in s]
    for before, after in itertools.pairwise(steps):
        if before["runningSimulationController"] and (
            before["runningSimulationController"] != after["runningSimulationController"]
        ):
            assert before["phase"] == "ControllerCompleted"


@proves("V2-061", "V2-062", "V2-066")
@pytest.mark.parametrize("controller", [PodPerNode, SlowPodPerNode])
def test_a_delay_of_a_preparing_controller_does_not_change_the_result(controller: type[UserController]) -> None:
    """Scheduling waits until the waiter is satisfied, however long that takes."""
    stage = Stage(operations(create(1, node("n")), create(1, pod("z")), done(1)), with_own(controller))
    stage.run()
    assert stage.tried == ["z", "on-n"]
    assert stage.get("Pod", "on-n") is not None


@proves("V2-049", "V2-053")
@pytest.mark.parametrize("name", [*Registry().names(), "ping"])
def test_every_registered_controller_has_a_waiter(name: str) -> None:
    """The two members of the KEP; unsatisfied while there is work, satisfied at the end of a step."""
    rest = [other for other in ("scheduler", name) if other != name]
    stage = Stage(operations(create(1, node("n")), create(1, pod("p")), simulated=[name, *rest]), with_own(Ping))
    stage.run()
    assert stage.scenario_run.engine is not None
    controller = next(
        controller for controller in stage.scenario_run.engine.controllers.simulated if controller.name == name
    )
    assert isinstance(controller, ControllerWaiter)
    assert controller.wait_condition()
    assert not controller.has_work()


@proves("V2-049")
def test_the_waiter_of_a_users_controller_is_obeyed() -> None:
    """It says when the cluster state is converged, though the controller has no work of its own."""
    asked: list[bool] = []

    class Waiting(PodPerNode):
        name = "waiting"
        delay = "30s"

        def wait_condition(self, cluster: Cluster) -> bool:
            asked.append(cluster.find("v1/Pod", "on-n") is not None)
            return asked[-1]

    stage = Stage(operations(create(1, node("n")), create(1, pod("z")), done(1)), with_own(Waiting))
    stage.run()
    assert asked.index(True) > 0
    assert stage.tried == ["z", "on-n"]


@proves("V2-050")
def test_a_controller_that_goes_by_real_time_is_refused() -> None:

    class Wall(Ping):
        name = "wall"
        uses_real_time = True

    with pytest.raises(ConfigError, match="goes by real time"):
        Registry().register(Wall)


@pytest.mark.parametrize(
    ("watched", "said"),
    [
        ("foo/Bar", "expected apiVersion/Kind such as v1/Node or example.com/v1/NodeSet, got 'foo/Bar'"),
        ("Node", "expected apiVersion/Kind"),
        ("v1/nodes", "expected apiVersion/Kind"),
        ("apps/v1/Deploymnt", "there is no kind apps/v1/Deploymnt"),
        ("v1/Deployment", "there is no kind v1/Deployment"),
    ],
)
def test_a_controller_that_watches_what_cannot_be_is_refused(watched: str, said: str) -> None:
    class Blind(PodPerNode):
        watches = (watched,)

    with pytest.raises(ConfigError, match=f"^controller podpernode: watches: {said}"):
        Registry().register(Blind)


def test_a_controller_whose_kind_never_comes_is_told() -> None:
    from tests.scenario.engine.test_operations import WIDGETS

    class Widgets(PodPerNode):
        watches = ("example.com/v1/Widget",)

    told = "controller podpernode watches example.com/v1/Widget, which is not served"
    assert told in Stage(operations(done(1)), with_own(Widgets)).run()["message"]
    assert told not in Stage(operations(create(1, WIDGETS), done(1)), with_own(Widgets)).run()["message"]


def test_a_rehearsal_tells_of_kinds_that_never_come() -> None:
    watched = {"mine": ("v1/Node", "example.com/v1/Widget")}
    (found,) = rehearse((), watched=watched)
    assert found.level == "warning"
    assert found.message == "controller mine watches example.com/v1/Widget, which is not served"


def test_a_name_that_is_taken_is_refused() -> None:
    class Job(Ping):
        name = "job"

    with pytest.raises(ConfigError, match="the name is taken"):
        Registry().register(Job)


@proves("V2-052")
def test_an_idle_cluster_is_not_written_to() -> None:
    stage = Stage(operations(create(1, node("n")), done(2)))
    status = stage.run()
    assert kinds_of(status, "2") == ["done"]


@proves("V2-051")
def test_cron_jobs_make_no_jobs_unless_asked() -> None:
    template: dict[str, Any] = {"spec": {"template": {"spec": pod("x")["spec"] | {"restartPolicy": "Never"}}}}
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"schedule": "* * * * *", "jobTemplate": template},
    }
    stage = Stage(operations(create(1, cron), done(2)), annotations={"step_duration": "1h"})
    stage.run()
    assert stage.all("Job", "batch/v1") == []


class MapPerNode(UserController):
    """Creates a ConfigMap for each node."""

    name = "first"
    watches = ("v1/Node",)

    def reconcile(self, cluster: Cluster, object: Document) -> None:
        name = f"{self.name}-{object['metadata']['name']}"
        cluster.create_once(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}
        )


class OtherMapPerNode(MapPerNode):
    name = "second"


@proves("V2-009")
def test_pre_simulation_controllers_take_turns_before_the_simulated_ones() -> None:
    """In parallel, as far as that can be repeated, and without being named in the spec."""
    spec = operations(*(create(1, node(name)) for name in ("a", "b", "c")), create(1, pod("p")), done(1))
    assert "presimulationControllers" not in spec["controllers"]
    stage = Stage(spec, with_own(MapPerNode, OtherMapPerNode))
    timeline = stage.run()["scenarioResult"]["timeline"]["1"]
    made = [entry for entry in timeline if entry.get("create", {}).get("result", {}).get("kind") == "ConfigMap"]
    assert [entry["create"]["result"]["metadata"]["name"] for entry in made] == [
        "first-a", "second-a", "first-b", "second-b", "first-c", "second-c",
    ]  # fmt: skip
    assert [entry["step"] for entry in made] == [{"major": 1, "minor": 0}] * 6
    bound = next(place for place, entry in enumerate(timeline) if "podScheduled" in entry)
    assert timeline.index(made[-1]) < bound


@proves("V2-058", "V2-059")
def test_the_step_stays_operating_while_pre_simulation_controllers_work() -> None:
    """At {1, 0}, however long they take, and without an attempt of the scheduler."""
    spec = operations(create(1, node("n")), create(1, pod("z")), done(1))
    stage = Stage(spec, with_own(SlowPodPerNode))
    seen: list[tuple[str, Any, int]] = []

    def note(change: Change) -> None:
        if change.stored.name == "on-n" and change.type == "ADDED":
            step = stage.log[-1]["stepStatus"]
            seen.append((step["phase"], step["step"], len(stage.tried)))

    stage.store.subscribe(note)
    stage.run()
    assert seen == [("Operating", {"major": 1, "minor": 0}, 0)]
    assert stage.clock.now() >= START + 90 * SECOND
