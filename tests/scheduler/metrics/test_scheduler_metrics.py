"""The scheduler's metrics: their text, and what is counted and measured where there is a stopwatch.

Tests: scheduler/metrics/*.py
"""

from collections.abc import Callable
from itertools import count
from typing import Any, ClassVar

import pytest

from seatrial.model.times import SECOND
from seatrial.plugins import Action, Plugin, Requeue, Wait
from seatrial.scheduler.metrics.families import Family, exponential
from seatrial.scheduler.metrics.scheduler_metrics import families
from tests.scheduler.dra.devices import device
from tests.scheduler.dra.test_dynamic_resources import API
from tests.scheduler.dra.test_dynamic_resources import Cluster as Devices
from tests.scheduler.schedule_one.test_pre_bind_waits import WithDevices, WithVolumes, arguments, pass_time
from tests.scheduler.scheduler_world import World, enabled

NAMES = [
    "batch_attempts_total",
    "batch_cache_flushed_total",
    "cache_size",
    "dra_bindingconditions_allocations_total",
    "dra_bindingconditions_wait_duration_seconds",
    "event_handling_duration_seconds",
    "framework_extension_point_duration_seconds",
    "get_node_hint_duration_seconds",
    "inflight_events",
    "pending_pods",
    "permit_wait_duration_seconds",
    "plugin_evaluation_total",
    "plugin_execution_duration_seconds",
    "pod_scheduled_after_flush_total",
    "pod_scheduling_attempts",
    "pod_scheduling_sli_duration_seconds",
    "preemption_attempts_total",
    "preemption_victims",
    "queue_incoming_pods_total",
    "queueing_hint_execution_duration_seconds",
    "resourceclaim_creates_total",
    "schedule_attempts_total",
    "scheduling_algorithm_duration_seconds",
    "scheduling_attempt_duration_seconds",
    "store_schedule_results_duration_seconds",
    "unschedulable_pods",
    "volume_scheduling_stage_error_total",
]


def ticking() -> Callable[[], float]:
    """A stopwatch that moves on by a second with every look."""
    ticks = count()
    return lambda: float(next(ticks))


def measured(**options: Any) -> World:
    return World(stopwatch=ticking(), **options)


def line(world: World, start: str) -> str:
    return next((found for found in world.scheduler.metrics_text().splitlines() if found.startswith(start)), "")


def value(world: World, name: str, **labels: str) -> float:
    shown = ",".join(f'{label}="{labels[label]}"' for label in sorted(labels))
    found = line(world, f"scheduler_{name}{{{shown}}}" if shown else f"scheduler_{name} ")
    return float(found.rpartition(" ")[2]) if found else 0.0


def test_all_metrics_are_there() -> None:
    assert sorted(family.name for family in families()) == NAMES


def test_a_histogram_is_written_as_prometheus_reads_it() -> None:
    family = Family("seconds", "histogram", "Seconds.", ("b", "a"), exponential(0.00001, 10, 3))
    family.observe(0.0001, 'say "x"', "y")
    family.observe(5, 'say "x"', "y")
    assert list(family.lines()) == [
        "# HELP seconds Seconds.",
        "# TYPE seconds histogram",
        'seconds_bucket{a="y",b="say \\"x\\"",le="1e-05"} 0',
        'seconds_bucket{a="y",b="say \\"x\\"",le="0.0001"} 1',
        'seconds_bucket{a="y",b="say \\"x\\"",le="0.001"} 1',
        'seconds_bucket{a="y",b="say \\"x\\"",le="+Inf"} 2',
        'seconds_sum{a="y",b="say \\"x\\""} 5.0001',
        'seconds_count{a="y",b="say \\"x\\""} 2',
    ]


def test_without_labels_a_metric_is_there_before_it_counts() -> None:
    world = World()
    assert value(world, "preemption_attempts_total") == 0
    assert line(world, "scheduler_preemption_attempts_total") != ""
    assert line(world, "scheduler_schedule_attempts_total") == ""


def test_sizes_are_those_of_the_moment() -> None:
    world = World()
    world.node("n1", cpu="1")
    world.pod("a")
    world.pod("large", cpu="9")
    world.pod("gated", schedulingGates=[{"name": "g"}])
    world.run()
    assert value(world, "cache_size", type="nodes") == 1
    assert value(world, "cache_size", type="pods") == 1
    assert value(world, "pending_pods", queue="unschedulable") == 1
    assert value(world, "pending_pods", queue="gated") == 1
    assert value(world, "unschedulable_pods", plugin="NodeResourcesFit", profile="default-scheduler") == 1
    assert value(world, "unschedulable_pods", plugin="SchedulingGates", profile="default-scheduler") == 1
    world.delete("Pod", "large")
    assert value(world, "unschedulable_pods", plugin="NodeResourcesFit", profile="default-scheduler") == 0


def test_plugins_are_counted_as_often_as_they_are_asked() -> None:
    world = measured()
    world.node("n1")
    world.node("n2", unschedulable=True)
    world.pod("a")
    world.run()
    asked = {"profile": "default-scheduler", "extension_point": "Filter"}
    assert value(world, "plugin_evaluation_total", plugin="NodeUnschedulable", **asked) == 2
    assert value(world, "plugin_evaluation_total", plugin="TaintToleration", **asked) == 1
    assert line(world, "scheduler_plugin_evaluation_total").endswith(" 0")


def test_every_extension_point_counts_equal_pods_one_by_one() -> None:
    """Whatever shortcut carries out the cycle of a pod, and also where no plugin implements a point."""
    world = measured()
    for name in ("n1", "n2"):
        world.node(name)
    for number in range(6):
        world.pod(f"p{number}", cpu="100m")
    world.run()
    for name in ("PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind", "PostBind"):
        point = {"profile": "default-scheduler", "extension_point": name, "status": "Success"}
        assert value(world, "framework_extension_point_duration_seconds_count", **point) == 6, name
    asked = {"profile": "default-scheduler", "extension_point": "Filter"}
    assert value(world, "plugin_evaluation_total", plugin="NodeResourcesFit", **asked) == 12


def test_equal_pods_that_fail_count_as_often_as_if_each_was_tried() -> None:
    world = measured()
    world.node("n1", cpu="1")
    for name in ("a", "b", "c"):
        world.pod(name, cpu="3")
    world.run()
    point = {"profile": "default-scheduler", "extension_point": "Filter", "status": "Success"}
    assert value(world, "framework_extension_point_duration_seconds_count", **point) == 3
    assert value(world, "plugin_evaluation_total", plugin="NodeResourcesFit", **dict(list(point.items())[:2])) == 3
    assert value(world, "scheduling_algorithm_duration_seconds_count") == 3


def test_queues_are_counted_with_the_event_that_fills_them() -> None:
    world = measured()
    world.node("n1", cpu="1")
    world.pod("a", cpu="3")
    world.run()
    world.node("n2", cpu="4")
    world.run()
    assert value(world, "queue_incoming_pods_total", event="UnschedulablePodAdd", queue="active") == 1
    assert value(world, "queue_incoming_pods_total", event="ScheduleAttemptFailure", queue="unschedulable") == 1
    assert value(world, "queue_incoming_pods_total", event="NodeAdd", queue="backoff") == 1
    assert value(world, "queue_incoming_pods_total", event="PopFromBackoffQ", queue="active") == 1
    hint = {"plugin": "NodeResourcesFit", "event": "NodeAdd", "hint": "Queue"}
    assert value(world, "queueing_hint_execution_duration_seconds_count", **hint) == 1


def test_events_of_the_cluster_are_measured() -> None:
    world = measured()
    world.node("n1")
    world.pod("a")
    world.run()
    world.change("Node", "n1", lambda node: node["metadata"]["labels"].__setitem__("x", "y"))
    world.delete("Pod", "a")
    world.delete("Node", "n1")
    events = ("NodeAdd", "UnschedulablePodAdd", "AssignedPodAdd", "NodeUpdateNodeLabel", "AssignedPodDelete")
    for event in (*events, "UnschedulablePodDelete", "NodeDelete"):
        assert value(world, "event_handling_duration_seconds_count", event=event) == 1, event


def test_an_attempt_of_many_is_measured_plugin_by_plugin() -> None:
    world = measured()
    world.node("n1", cpu="64")
    for number in range(11):
        world.pod(f"p{number}", cpu="1")
    world.run()
    labels = {"plugin": "NodeResourcesFit", "extension_point": "PreFilter", "status": "Success"}
    assert value(world, "plugin_execution_duration_seconds_count", **labels) == 2


class Hold(Plugin):
    def permit(self, pod: Any, node: Any, state: Any) -> Wait:
        return Wait(10 * SECOND)


def test_a_wait_at_permit_is_measured() -> None:
    world = World(enabled("Hold"), [Hold])
    world.node("n1")
    world.pod("a")
    world.run()
    pass_time(world, 10)
    assert value(world, "permit_wait_duration_seconds_sum", result="Unschedulable") == 10


def test_time_to_the_binding_is_that_of_the_clock() -> None:
    world = WithVolumes(stopwatch=ticking())
    pass_time(world, 4)
    world.provision()
    pass_time(world, 1)
    assert value(world, "pod_scheduling_sli_duration_seconds_sum", attempts="1") == 4
    assert value(world, "pod_scheduling_attempts_count") == 1


def test_errors_of_the_volume_binder_are_counted() -> None:
    world = WithVolumes(config=arguments("VolumeBinding", bindTimeoutSeconds=3))
    pass_time(world, 3)
    assert value(world, "volume_scheduling_stage_error_total", operation="bind") == 1


@pytest.mark.parametrize(("said", "status"), [("Ready", "success"), ("Broken", "failure"), ("", "timeout")])
def test_devices_that_were_waited_for_are_counted(said: str, status: str) -> None:
    world = WithDevices()
    if said:
        world.tell(said)
    pass_time(world, 5 if said else 600)
    labels = {"driver": "gpu.example.com", "profile": "default-scheduler", "status": status}
    assert value(world, "dra_bindingconditions_allocations_total", **labels) == 1
    assert value(world, "dra_bindingconditions_wait_duration_seconds_sum", **labels) == (5 if said else 600)


def test_claims_for_extended_resources_are_counted() -> None:
    world = Devices(device("d0"), stopwatch=ticking())
    named = {"extendedResourceName": "example.com/gpu"}
    world.store.modify(world.kind("DeviceClass", API), "gpu", lambda d: d["spec"].update(named), writer="user:test")
    resources = {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}
    world.pod("p", containers=[{"name": "c", "image": "i", "resources": resources}])
    world.run()
    assert value(world, "resourceclaim_creates_total", status="success") == 1
    world.change("Pod", "p", lambda d: d["metadata"].__setitem__("labels", {"x": "y"}))
    name = "event_handling_duration_seconds_count"
    assert value(world, name, event="AssignedPodUpdatePodLabel") == 1
    assert value(world, name, event="AssignedPodUpdatePodGeneratedResourceClaim") == 0


class Moody(Plugin):
    """Changes its mind without an event."""

    requeues = (Requeue("CSINode", Action.ADD),)
    is_content: ClassVar[bool] = False

    def filter_one(self, pod: Any, node: Any) -> Any:
        return self.is_content or "not today"


def test_a_pod_that_had_waited_for_long_counts_when_it_is_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    world = measured(config=enabled("Moody"), plugins=[Moody])
    world.node("n1")
    world.pod("a")
    world.run()
    monkeypatch.setattr(Moody, "is_content", True)
    pass_time(world, 331)
    assert world.node_of("a") == "n1"
    assert value(world, "pod_scheduled_after_flush_total") == 1
