"""/metrics of `serve` has the metrics of a real kube-scheduler that has done the same."""

import http.client
import json
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.outside.churn import RealScheduler
from tests.outside.objects import node, pod, priority_class
from tests.outside.processes import OF_THE_PROGRAMS, Serve, free_port
from tests.outside.whole_runs.api import Api
from tests.outside.whole_runs.shape import Step, create, delete, patch
from tests.outside.whole_runs.shapes import devices, volumes
from tests.outside.whole_runs.sides import HEAD
from tests.scheduler.metrics.test_scheduler_metrics import NAMES

SAMPLE = re.compile(r"^(scheduler_\w+?)(_bucket|_sum|_count)?(?:\{(.*)\})? (\S+)$", re.MULTILINE)
LABEL = re.compile(r'(\w+)="([^"]*)"')
Labels = frozenset[tuple[str, str]]
GOROUTINES = {"scheduler_goroutines", "scheduler_preemption_goroutines_duration_seconds"}
GOROUTINES |= {"scheduler_preemption_goroutines_execution_total"}
COMPARED = frozenset(f"scheduler_{name}" for name in NAMES) - {"scheduler_permit_wait_duration_seconds"}
"""All that v1.36.3 shows with its default gates and plugins: of what it registers, no in-tree plugin waits in Permit
(permit_wait_duration_seconds), and volume_binder_cache_requests_total is never counted."""
TIMING = {
    "scheduler_inflight_events": "which events come while a pod is being scheduled is a race",
    "scheduler_plugin_execution_duration_seconds": "but for Sign measured in a tenth of all attempts, chosen at random",
    "scheduler_queueing_hint_execution_duration_seconds": "upstream writes them once a second",
}
"""Metrics whose label values are random or timing upstream: only their names, labels and buckets are compared."""
RACES = {
    "PopFromBackoffQ": "whether a pod comes back through the backoff queue depends on how long ago it failed",
    "BackoffComplete": "the same; so both queues are added up for all other events",
    "resource.k8s.io/ResourceClaimUpdate": "the scheduler's own write is an event, unless it has come back before",
}
"""Labels that depend on timing upstream."""

STEPS: tuple[Step, ...] = (
    create(node("n1", cpu="2"), node("n2", cpu="4")),
    create(pod("a", cpu="500m")),
    create(pod("b", cpu="500m", nodeSelector={"disk": "ssd"})),
    create(pod("large", cpu="99")),
    create(pod("gated", schedulingGates=[{"name": "wait"}])),
    patch("Node", "n1", {"metadata": {"labels": {"disk": "ssd"}}}),
    patch("Node", "n2", {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}),
    patch("Pod", "gated", {"spec": {"schedulingGates": None}}),
    create(priority_class("high", 1000)),
    create(pod("c", cpu="500m")),
    create(volumes.storage_class(), volumes.claim("c1")),
    create(devices.device_class(extendedResourceName="example.com/gpu"), devices.devices("n1", 1)),
    create(devices.asks("gpu")),
    delete("Pod", "b"),
    delete("Node", "n2"),
    create(volumes.user("never-bound", "c1", nodeSelector={"disk": "ssd"})),
    create(node("n3"), devices.devices("n3", 1, **devices.CONDITIONS), devices.claim("x")),
    create(devices.user("slow-device", "x")),
    devices.tell("x", "Ready", "d0", "n3"),
)
PREEMPTION: tuple[Step, ...] = (
    create(pod("urgent", cpu="1800m", priorityClassName="high", nodeSelector={"disk": "ssd"})),
)
"""After these the evaluations of filters differ: upstream counts the dry runs of preemption, too."""
TIMEOUT: tuple[Step, ...] = (
    delete("Pod", "large"),
    create(node("n9", disk="tape"), volumes.claim("c2")),
    create(volumes.user("impatient", "c2", schedulerName="impatient", nodeSelector={"disk": "tape"})),
)
"""After these a volume was not bound in time, and its pod waits for a minute. Whether a pending pod is tried before the
nomination of such a pod is cleared, and so once more after that, is a race upstream: there is none."""
CONFIG = {
    "podInitialBackoffSeconds": 60,
    "podMaxBackoffSeconds": 60,
    "profiles": [
        {"schedulerName": "default-scheduler"},
        {
            "schedulerName": "impatient",
            "pluginConfig": [{"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 2}}],
        },
    ],
}
PHASES = {"steps": STEPS, "preemption": PREEMPTION, "timeout": TIMEOUT}
DELAY = 6.0
"""Seconds until a device that is ready is noticed."""


class Metrics:
    """The metrics of a scheduler, read from their text."""

    def __init__(self, text: str) -> None:
        self.values: dict[str, dict[Labels, float]] = {}
        self.buckets: dict[str, set[str]] = {}
        self.types = dict(re.findall(r"^# TYPE (scheduler_\w+) (\w+)$", text, re.MULTILINE))
        for name, part, shown, value in SAMPLE.findall(text):
            labels = dict(LABEL.findall(shown))
            name = name if part and self.types.get(name) == "histogram" else f"{name}{part}"
            if part == "_bucket":
                self.buckets.setdefault(name, set()).add(labels["le"])
            elif part != "_sum":
                self.values.setdefault(name, {})[frozenset(labels.items())] = float(value)

    def label_names(self, name: str) -> set[tuple[str, ...]]:
        return {tuple(sorted(label for label, _ in labels)) for labels in self.values[name]}

    def counts(self, name: str) -> Mapping[Labels, float]:
        """What was counted at least once, without what depends on timing."""
        counts: dict[Labels, float] = {}
        for labels, value in self.values.get(name, {}).items():
            given = dict(labels)
            if value and given.get("event") not in RACES:
                if given.get("queue") == "backoff" and "event" in given:
                    given["queue"] = "active"
                key = frozenset(given.items())
                counts[key] = counts.get(key, 0) + value
        return counts


def carry_out(api: Api, steps: Iterable[Step], rest: object) -> None:
    for step in steps:
        for operation in step:
            api.carry_out(operation)
            settle(api, rest)
    time.sleep(DELAY)
    settle(api, rest)


def settle(api: Api, rest: object) -> None:
    """Wait until pods and events stay as they are."""
    last: object = None
    quiet, end = 0, time.monotonic() + 30
    while quiet < 3 and time.monotonic() < end:
        if callable(rest):
            rest()
        time.sleep(0.05)
        now = [api.call("GET", f"/api/v1/{kind}")["items"] for kind in ("pods", "events")]
        quiet = quiet + 1 if now == last else 0
        last = now


@dataclass
class Sides:
    """The metrics of both schedulers after each phase."""

    ours: dict[str, Metrics] = field(default_factory=dict)
    real: dict[str, Metrics] = field(default_factory=dict)


@pytest.fixture(scope="module")
def sides(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Sides:
    folder, sides = tmp_path_factory.mktemp("metrics"), Sides()
    config = folder / "config.json"
    config.write_text(json.dumps({**HEAD, **CONFIG}))
    flags = ("--controllers", "", "--insecure", "--record", "none", "--scheduler-config", str(config), *OF_THE_PROGRAMS)
    with Serve(folder / "ours", *flags) as server, closing(Api(server.url)) as api:
        for phase, steps in PHASES.items():
            carry_out(api, steps, None)
            sides.ours[phase] = Metrics(read(server.url))
    with (
        Serve(folder / "real", "--no-scheduler", "--controllers", "", "--insecure", *OF_THE_PROGRAMS) as server,
        RealScheduler(
            programs / "kube-scheduler",
            server.kubeconfig,
            folder / "s",
            free_port(),
            CONFIG,
            gates={"OpportunisticBatching": True},
        ) as scheduler,
        closing(Api(server.url)) as api,
    ):
        for phase, steps in PHASES.items():
            carry_out(api, steps, lambda: scheduler.rest(backing_off=1))
            sides.real[phase] = Metrics(scheduler.metrics())
    return sides


def read(url: str) -> str:
    """The metrics of a server as text."""
    with closing(http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)) as connection:
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()


def test_every_metric_is_there_with_its_type_labels_and_buckets(sides: Sides) -> None:
    ours, real = sides.ours["timeout"], sides.real["timeout"]
    assert set(real.types) - GOROUTINES == COMPARED, "the real one shows other metrics than those compared"
    assert set(ours.types) == COMPARED
    assert ours.types == {name: real.types[name] for name in COMPARED}
    assert {name: ours.label_names(name) for name in COMPARED} == {name: real.label_names(name) for name in COMPARED}
    assert {name: ours.buckets.get(name) for name in COMPARED} == {name: real.buckets.get(name) for name in COMPARED}


@pytest.mark.parametrize("phase", PHASES)
def test_what_is_deterministic_is_counted_alike(sides: Sides, phase: str) -> None:
    ours, real = sides.ours[phase], sides.real[phase]
    lines = []
    for name in sorted(COMPARED - set(TIMING)):
        counted = {*ours.counts(name), *real.counts(name)}
        if phase != "steps" and name == "scheduler_plugin_evaluation_total":
            counted = {labels for labels in counted if ("extension_point", "Filter") not in labels}
        lines += different(name, counted, ours, real)
    assert lines == [], "ours and the real one's differ:\n" + "\n".join(lines)


def test_every_plugin_signs_as_many_pods(sides: Sides) -> None:
    ours, real, name = sides.ours["timeout"], sides.real["timeout"], "scheduler_plugin_execution_duration_seconds"
    signed = {labels for labels in real.counts(name) if ("extension_point", "Sign") in labels}
    assert signed
    assert different(name, signed, ours, real) == []


def different(name: str, counted: set[Labels], ours: Metrics, real: Metrics) -> list[str]:
    """What is not counted alike, a line each."""
    pairs = {labels: (ours.counts(name).get(labels), real.counts(name).get(labels)) for labels in counted}
    unlike = [labels for labels, (here, there) in pairs.items() if here != there]
    return [f"{name} {sorted(labels)}: {pairs[labels]}" for labels in sorted(unlike, key=sorted)]
