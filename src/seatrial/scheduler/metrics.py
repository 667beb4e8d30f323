"""Counters of a scheduler under upstream's names, in the text format of Prometheus.

Durations are virtual in a run and therefore mostly zero; in `serve` the clock is real and so are they.
Upstream: pkg/scheduler/metrics/metrics.go (v1.36.3).
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from seatrial.scheduler.framework.interface import PostFiltered
from seatrial.scheduler.schedule_one.decision import ERROR, SCHEDULED, UNSCHEDULABLE, Decision

_RESULTS = {SCHEDULED: "scheduled", UNSCHEDULABLE: "unschedulable", ERROR: "error"}
_ATTEMPT_BUCKETS = (1.0, 2.0, 4.0, 8.0, 16.0)
_VICTIM_BUCKETS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
DURATION_BUCKETS = tuple(0.001 * 2**exponent for exponent in range(15))


@dataclass(slots=True)
class Histogram:
    """Observations by upper bound."""

    bounds: tuple[float, ...]
    counts: list[int] = field(default_factory=list)
    total: float = 0.0

    def observe(self, value: float) -> None:
        if not self.counts:
            self.counts = [0] * (len(self.bounds) + 1)
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str, labels: str = "") -> Iterator[str]:
        """The histogram in Prometheus' text format."""
        comma = "," if labels else ""
        reached = 0
        counts = self.counts or [0] * (len(self.bounds) + 1)
        for bound, count in zip((*self.bounds, float("inf")), counts, strict=True):
            reached += count
            shown = "+Inf" if bound == float("inf") else f"{bound:g}"
            yield f'{name}_bucket{{{labels}{comma}le="{shown}"}} {reached}'
        inner = f"{{{labels}}}" if labels else ""
        yield f"{name}_sum{inner} {self.total:g}"
        yield f"{name}_count{inner} {reached}"


class SchedulerMetrics:
    """What a scheduler has done so far."""

    def __init__(self) -> None:
        self.attempts: dict[tuple[str, str], int] = {}
        self.attempts_per_pod = Histogram(_ATTEMPT_BUCKETS)
        self.victims = Histogram(_VICTIM_BUCKETS)
        self.preemption_attempts = 0
        self.durations: dict[tuple[str, str], Histogram] = {}

    def attempted(self, decision: Decision) -> None:
        """Count an attempt; one that Permit holds counts when its wait is over."""
        result = _RESULTS.get(decision.outcome)
        if result is None:
            return
        key = (decision.profile, result)
        self.attempts[key] = self.attempts.get(key, 0) + 1
        if result == "scheduled":
            self.attempts_per_pod.observe(decision.attempt)

    def took(self, profile: str, outcome: str, seconds: float) -> None:
        """How long an attempt took, if the caller has a real clock."""
        key = (profile, _RESULTS.get(outcome, outcome))
        self.durations.setdefault(key, Histogram(DURATION_BUCKETS)).observe(seconds)

    def post_filtered(self, post: PostFiltered | None) -> None:
        """Count a preemption attempt: every time that DefaultPreemption is asked, with or without success."""
        if post is not None and "DefaultPreemption" in post.ran:
            self.preemption_attempts += 1

    def preempted(self, victims: int) -> None:
        """Count victims of which at least one is being deleted."""
        self.victims.observe(victims)

    def text(self, pending: dict[str, int] | None = None) -> str:
        """All metrics in Prometheus' text format; `pending` are pods by queue."""
        return "\n".join(self._lines(pending or {})) + "\n"

    def _lines(self, pending: dict[str, int]) -> Iterator[str]:
        name = "scheduler_schedule_attempts_total"
        yield f"# HELP {name} Number of attempts to schedule pods, by the result."
        yield f"# TYPE {name} counter"
        for (profile, result), count in sorted(self.attempts.items()):
            yield f'{name}{{profile="{profile}",result="{result}"}} {count}'
        name = "scheduler_scheduling_attempt_duration_seconds"
        yield f"# HELP {name} Scheduling attempt latency in seconds."
        yield f"# TYPE {name} histogram"
        for (profile, result), histogram in sorted(self.durations.items()):
            yield from histogram.lines(name, f'profile="{profile}",result="{result}"')
        name = "scheduler_pod_scheduling_attempts"
        yield f"# HELP {name} Number of attempts to successfully schedule a pod."
        yield f"# TYPE {name} histogram"
        yield from self.attempts_per_pod.lines(name)
        name = "scheduler_preemption_attempts_total"
        yield f"# HELP {name} Total preemption attempts in the cluster till now."
        yield f"# TYPE {name} counter"
        yield f"{name} {self.preemption_attempts}"
        name = "scheduler_preemption_victims"
        yield f"# HELP {name} Number of selected preemption victims."
        yield f"# TYPE {name} histogram"
        yield from self.victims.lines(name)
        name = "scheduler_pending_pods"
        yield f"# HELP {name} Number of pending pods, by the queue type."
        yield f"# TYPE {name} gauge"
        for queue, count in sorted(pending.items()):
            yield f'{name}{{queue="{queue}"}} {count}'
