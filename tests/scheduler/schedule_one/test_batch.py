"""Opportunistic batching. The cases follow upstream's batch_test.go, and signers_test.go."""

from collections.abc import Iterator
from typing import Any

import pytest

from seatrial.model.times import SECOND
from seatrial.plugins import Plugin
from seatrial.scheduler.framework.pod_signer import PodSigner
from tests.scheduler.metrics.test_scheduler_metrics import ticking, value
from tests.scheduler.scheduler_world import World, profiles

PROFILE = "default-scheduler"


def unspread(name: str = PROFILE) -> dict[str, Any]:
    """A profile whose pods can be signed: by default all of them are spread."""
    spread = {"name": "PodTopologySpread", "args": {"defaultingType": "List"}}
    return {"schedulerName": name, "pluginConfig": [spread]}


def batching(*more: Any, **options: Any) -> World:
    return World(profiles(unspread(), *more), **options)


def counted(world: World, name: str) -> dict[str, float]:
    """What was counted of the default profile, by result or reason."""
    found = world.scheduler.metrics[f"batch_{name}_total"].values
    return {label: number for (profile, label), number in found.items() if profile == PROFILE}


@pytest.fixture
def world() -> Iterator[World]:
    world = batching()
    for number in range(6):
        world.node(f"n{number}", cpu="1")
    yield world


def visited(world: World) -> dict[str, int]:
    return {decision.pod.split("/")[1]: len(decision.visited) for decision in world.recorder.decisions}


def test_equal_pods_that_fill_a_node_each_go_down_one_list(world: World) -> None:
    for name in "abcd":
        world.pod(name)
    world.run()
    assert [world.node_of(name) for name in "abcd"] == ["n0", "n5", "n4", "n3"]
    assert visited(world) == {"a": 6, "b": 1, "c": 1, "d": 1}
    assert counted(world, "attempts") == {"no_hint": 1, "hint_used": 3}
    assert counted(world, "cache_flushed") == {}


def test_the_gate_switches_it_off() -> None:
    world = batching(gates={"OpportunisticBatching": False})
    for number in range(4):
        world.node(f"n{number}", cpu="1")
    for name in "abc":
        world.pod(name)
    world.run()
    assert [world.node_of(name) for name in "abc"] == ["n0", "n1", "n2"]
    assert counted(world, "attempts") == {}


def test_default_constraints_leave_pods_without_a_signature() -> None:
    world = World(stopwatch=ticking())
    for number in range(3):
        world.node(f"n{number}", cpu="1")
    for name in "abc":
        world.pod(name)
    world.run()
    assert visited(world) == {"a": 3, "b": 3, "c": 3}
    assert counted(world, "attempts") == {"no_hint": 3}
    assert counted(world, "cache_flushed") == {"pod_not_batchable": 2, "empty_list": 1}
    assert value(world, "get_node_hint_duration_seconds_count", hinted="no_hint", profile=PROFILE) == 3
    assert value(world, "store_schedule_results_duration_seconds_count", profile=PROFILE) == 3
    signed = {"extension_point": "Sign", "status": "Success", "profile": PROFILE}
    assert value(world, "framework_extension_point_duration_seconds_count", **signed) == 3


def test_a_node_with_room_left_ends_the_list(world: World) -> None:
    for name in "ab":
        world.pod(name, cpu="500m")
    world.run()
    assert visited(world) == {"a": 6, "b": 6}
    assert counted(world, "cache_flushed") == {"node_not_full": 1}


def test_another_pod_ends_the_list(world: World) -> None:
    world.pod("a")
    world.pod("b", labels={"app": "other"})
    world.run()
    assert visited(world) == {"a": 6, "b": 6}
    assert counted(world, "cache_flushed") == {"pod_incompatible": 1}


def test_a_failed_attempt_between_two_pods_ends_the_list(world: World) -> None:
    world.pod("a")
    world.pod("large", cpu="9")
    world.pod("b")
    world.run()
    assert visited(world)["b"] == 6
    assert counted(world, "cache_flushed") == {"pod_incompatible": 1, "pod_skipped": 1}


def test_a_pod_of_another_profile_ends_the_list() -> None:
    world = batching(unspread("other"))
    for number in range(4):
        world.node(f"n{number}", cpu="1")
    world.pod("a")
    world.pod("b", schedulerName="other")
    world.pod("c")
    world.run()
    assert visited(world) == {"a": 4, "b": 4, "c": 4}
    assert counted(world, "cache_flushed") == {"pod_skipped": 1}


def test_a_node_that_has_gone_ends_the_list(world: World) -> None:
    world.pod("a")
    world.run()
    world.delete("Node", world.node_of("a"))
    world.pod("b")
    world.run()
    assert visited(world)["b"] == 5
    assert counted(world, "cache_flushed") == {"node_missing": 1}


@pytest.mark.parametrize(("seconds", "looked_at"), [(0.5, 1), (0.6, 6)])
def test_a_list_is_used_for_half_a_second(world: World, seconds: float, looked_at: int) -> None:
    world.pod("a")
    world.run()
    world.clock.advance(world.clock.now() + int(seconds * SECOND))
    world.pod("b")
    world.run()
    assert visited(world)["b"] == looked_at


def test_a_hinted_node_that_no_longer_fits_is_not_taken(world: World) -> None:
    world.pod("a")
    world.run()
    world.change("Node", "n5", lambda node: node["spec"].update(unschedulable=True))
    world.pod("b")
    world.run()
    assert world.node_of("b") == "n1"
    assert counted(world, "attempts") == {"no_hint": 1, "hint_not_used": 1}


def test_filters_asked_about_the_last_node_are_counted() -> None:
    world = batching(stopwatch=ticking())
    for number in range(4):
        world.node(f"n{number}", cpu="1")
    for name in "ab":
        world.pod(name)
    world.run()
    asked = {"profile": PROFILE, "extension_point": "Filter"}
    # Four nodes for the first pod; for the second the node of the first and the hinted one.
    assert value(world, "plugin_evaluation_total", plugin="NodeResourcesFit", **asked) == 6
    assert value(world, "get_node_hint_duration_seconds_count", hinted="hint", profile=PROFILE) == 1


def test_a_proposal_leaves_the_list_alone(world: World) -> None:
    world.pod("a")
    world.run()
    world.pod("b")
    world.scheduler.propose("default", "b")
    world.run()
    assert world.node_of("b") == "n5"


# -- signatures ------------------------------------------------------------------------------------------------------


def signature(**spec: Any) -> bytes | None:
    world = batching()
    labels = spec.pop("labels", None)
    world.pod("p", labels=labels, **spec)
    pod = world.scheduler.watcher.pods["default/p"]
    return PodSigner(world.scheduler.frameworks[PROFILE].points, has_extenders=False).sign(pod)


def a_volume(name: str, **source: Any) -> dict[str, Any]:
    return {"volumes": [{"name": name, **source}]}


def affinity(*values: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": list(values)}]}
    required = {"nodeSelectorTerms": [term]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"labels": {"a": "1", "b": "2"}}, {"labels": {"b": "2", "a": "1"}}),
        (a_volume("x", configMap={"name": "c"}), a_volume("y", secret={"secretName": "s"})),
        (a_volume("x", emptyDir={}), a_volume("y", emptyDir={})),
        ({"affinity": affinity("a", "b")}, {"affinity": affinity("b", "a")}),
        ({"priority": 1}, {"priority": 2}),
    ],
)
def test_pods_that_plugins_cannot_tell_apart_have_one_signature(first: Any, second: Any) -> None:
    assert signature(**first) == signature(**second) is not None


@pytest.mark.parametrize(
    "spec",
    [
        {"labels": {"a": "1"}},
        {"cpu": "2"},
        {"nodeSelector": {"disk": "ssd"}},
        {"affinity": affinity("a")},
        {"tolerations": [{"key": "k", "operator": "Exists"}]},
        a_volume("x", hostPath={"path": "/x"}),
        {"initContainers": [{"name": "i", "image": "another"}]},
        {"initContainers": [{"name": "i", "image": "i", "ports": [{"hostPort": 80, "containerPort": 80}]}]},
    ],
)
def test_what_plugins_read_is_part_of_the_signature(spec: Any) -> None:
    assert signature(**spec) not in (None, signature())


@pytest.mark.parametrize(
    "spec",
    [
        {"resourceClaims": [{"name": "c", "resourceClaimName": "c"}]},
        {"affinity": {"podAffinity": {}}},
        {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]},
    ],
)
def test_pods_that_depend_on_others_are_not_signed(spec: Any) -> None:
    assert signature(**spec) is None


def test_extenders_leave_pods_without_a_signature() -> None:
    world = batching()
    signer = PodSigner(world.scheduler.frameworks[PROFILE].points, has_extenders=True)
    world.pod("p")
    assert not signer.can_sign
    assert signer.sign(world.scheduler.watcher.pods["default/p"]) is None


class Quiet(Plugin):
    """Judges nodes, and does not say what it reads of a pod."""

    def filter_one(self, pod: Any, node: Any) -> bool:
        return True


class Spoken(Quiet):
    """The same, and it says so."""

    def sign(self, pod: Any) -> dict[str, Any]:
        return {"team": pod.labels.get("team")}


@pytest.mark.parametrize(("plugin", "hints"), [(Quiet, 0), (Spoken, 1)])
def test_batching_needs_the_signature_of_every_plugin_that_judges_nodes(plugin: type[Plugin], hints: int) -> None:
    enabled = {"plugins": {"multiPoint": {"enabled": [{"name": plugin.__name__}]}}}
    world = World(profiles({**unspread(), **enabled}), plugins=[plugin])
    for number in range(3):
        world.node(f"n{number}", cpu="1")
    for name in "ab":
        world.pod(name)
    world.run()
    assert counted(world, "attempts").get("hint_used", 0) == hints
