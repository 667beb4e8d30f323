"""All metrics of a scheduler. What they mean is upstream's; `docs/fidelity.md` lists those that are left out.

Upstream: pkg/scheduler/metrics/metrics.go, plugins/volumebinding/metrics (v1.36.3).
"""

from collections.abc import Iterable, Mapping

from seatrial.model.times import SECOND
from seatrial.scheduler.framework.interface import PostFiltered
from seatrial.scheduler.metrics.families import Family, exponential
from seatrial.scheduler.queue import QueuedPod
from seatrial.scheduler.schedule_one.decision import ERROR, SCHEDULED, UNSCHEDULABLE, Decision

_RESULTS = {SCHEDULED: "scheduled", UNSCHEDULABLE: "unschedulable", ERROR: "error"}
_ATTEMPT = exponential(0.001, 2, 15)
_POINT = exponential(0.0001, 2, 12)
_PLUGIN = exponential(0.00001, 1.5, 20)
MOST_ATTEMPTS = 15
"""From which attempt on pods are counted under one label."""


def families() -> Iterable[Family]:
    """Every metric, empty."""
    return (
        Family("schedule_attempts_total", "counter", "Attempts by result.", ("result", "profile")),
        Family(
            "scheduling_attempt_duration_seconds", "histogram", "Time of an attempt with its binding.",
            ("result", "profile"), _ATTEMPT,
        ),
        Family("scheduling_algorithm_duration_seconds", "histogram", "Time of a scheduling cycle.", (), _ATTEMPT),
        Family("event_handling_duration_seconds", "histogram", "Time to take in an event.", ("event",), _POINT),
        Family("preemption_victims", "histogram", "Victims of a preemption.", (), exponential(1, 2, 7)),
        Family("preemption_attempts_total", "counter", "How often preemption was tried."),
        Family("pending_pods", "gauge", "Pending pods by queue.", ("queue",)),
        Family("inflight_events", "gauge", "Events kept for pods that are being scheduled.", ("event",)),
        Family(
            "pod_scheduling_sli_duration_seconds", "histogram", "Time from the first attempt to the binding of a pod.",
            ("attempts",), exponential(0.01, 2, 20),
        ),
        Family("pod_scheduling_attempts", "histogram", "Attempts until a pod was bound.", (), exponential(1, 2, 5)),
        Family("pod_scheduled_after_flush_total", "counter", "Pods bound after they had waited for 5 minutes."),
        Family(
            "framework_extension_point_duration_seconds", "histogram", "Time of an extension point.",
            ("extension_point", "status", "profile"), _POINT,
        ),
        Family(
            "plugin_execution_duration_seconds", "histogram", "Time of a plugin, in every tenth attempt.",
            ("plugin", "extension_point", "status"), _PLUGIN,
        ),
        Family(
            "queueing_hint_execution_duration_seconds", "histogram", "Time of a queueing hint.",
            ("plugin", "event", "hint"), _PLUGIN,
        ),
        Family("queue_incoming_pods_total", "counter", "Pods added to a queue by event.", ("queue", "event")),
        Family("permit_wait_duration_seconds", "histogram", "Time that Permit held a pod.", ("result",), _ATTEMPT),
        Family("cache_size", "gauge", "Nodes, pods and assumed pods known to the scheduler.", ("type",)),
        Family("unschedulable_pods", "gauge", "Pending pods by the plugins that reject them.", ("plugin", "profile")),
        Family(
            "plugin_evaluation_total", "counter", "How often plugins were asked.",
            ("plugin", "extension_point", "profile"),
        ),
        Family("resourceclaim_creates_total", "counter", "Claims made for extended resources.", ("status",)),
        Family(
            "dra_bindingconditions_allocations_total", "counter", "Devices that pods have waited for.",
            ("profile", "driver", "status"),
        ),
        Family(
            "dra_bindingconditions_wait_duration_seconds", "histogram", "Time that pods waited for devices.",
            ("profile", "driver", "status"), exponential(0.1, 2, 14),
        ),
        Family("volume_scheduling_stage_error_total", "counter", "Errors of the volume binder.", ("operation",)),
        *_batching(),
    )  # fmt: skip


def _batching() -> Iterable[Family]:
    return (
        Family("batch_attempts_total", "counter", "Attempts by what came of a hint to a node.", ("profile", "result")),
        Family("batch_cache_flushed_total", "counter", "Lists of nodes not used further.", ("profile", "reason")),
        Family(
            "get_node_hint_duration_seconds", "histogram", "Time to find the node that a pod is hinted to.",
            ("hinted", "profile"), exponential(0.00001, 2, 12),
        ),
        Family(
            "store_schedule_results_duration_seconds", "histogram", "Time to keep scored nodes for the next pod.",
            ("profile",), exponential(0.00001, 2, 12),
        ),
    )  # fmt: skip


class SchedulerMetrics:
    """What a scheduler has done so far."""

    def __init__(self) -> None:
        self._families = {family.name: family for family in families()}
        self._attempts, self._attempts_per_pod = self["schedule_attempts_total"], self["pod_scheduling_attempts"]
        self._preemptions = self["preemption_attempts_total"].values

    def __getitem__(self, name: str) -> Family:
        """A metric by its name without the prefix `scheduler_`."""
        return self._families[name]

    def inc(self, name: str, *labels: str) -> None:
        self._families[name].inc(*labels)

    def observe(self, name: str, value: float, *labels: str) -> None:
        self._families[name].observe(value, *labels)

    def attempted(self, decision: Decision) -> None:
        """Count an attempt; one that Permit or PreBind holds counts when its wait is over."""
        result = _RESULTS.get(decision.outcome)
        if result is not None:
            counts, labels = self._attempts.values, (result, decision.profile)
            counts[labels] = counts.get(labels, 0) + 1
            if result == "scheduled":
                self._attempts_per_pod.observe(decision.attempt)

    def took(self, profile: str, outcome: str, seconds: float) -> None:
        """How long an attempt took, if the caller has a real clock."""
        self.observe("scheduling_attempt_duration_seconds", seconds, _RESULTS.get(outcome, outcome), profile)

    def bound(self, queued: QueuedPod, now: int) -> None:
        """A pod is bound; the time counts from its first attempt on."""
        attempts = queued.attempts
        label = f"{MOST_ATTEMPTS}+" if attempts >= MOST_ATTEMPTS else str(attempts)
        seconds = (now - (now if queued.first_attempt is None else queued.first_attempt)) / SECOND
        self.observe("pod_scheduling_sli_duration_seconds", seconds, label)
        if queued.was_flushed:
            self.inc("pod_scheduled_after_flush_total")

    def post_filtered(self, post: PostFiltered | None) -> None:
        """Count a preemption attempt: every time that DefaultPreemption is asked, with or without success."""
        if post is not None and "DefaultPreemption" in post.ran:
            self._preemptions[()] += 1

    def preempted(self, victims: int) -> None:
        """Count victims of which at least one is being deleted."""
        self.observe("preemption_victims", victims)

    def text(self, gauges: Mapping[str, Mapping[tuple[str, ...], int]]) -> str:
        """All metrics in Prometheus' text format; `gauges` are the metrics that are counted when they are read."""
        for name, values in gauges.items():
            family = self[name]
            for labels in family.values:
                family.values[labels] = 0
            family.values.update(values)
        lines = (line for name in sorted(self._families) for line in self[name].lines())
        return "".join(f"{_prefixed(line)}\n" for line in lines)


def _prefixed(line: str) -> str:
    if not line.startswith("# "):
        return f"scheduler_{line}"
    mark, name, rest = line[2:].split(" ", 2)
    return f"# {mark} scheduler_{name} {rest}"
