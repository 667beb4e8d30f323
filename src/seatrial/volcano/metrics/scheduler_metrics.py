"""The metrics of vc-scheduler, by the names, labels and buckets of upstream: its dashboards work.

Left out are those that upstream declares and never sets (shares and weights of namespaces, goroutines). Where upstream
deletes the values of a job or a queue when it is gone, they are gone after the next session here.

Upstream: pkg/scheduler/metrics (metrics.go, job.go, queue.go).
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from math import exp, log

from seatrial.model.times import SECOND
from seatrial.scheduler.metrics import Family
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.framework.job_updater import SessionResult
from seatrial.volcano.framework.session import Session

PREFIX = "volcano_"
_JOB = ("job_name", "queue", "job_namespace")
_JOB_TIMES = ("e2e_job_scheduling_duration", "e2e_job_scheduling_start_time", "e2e_job_scheduling_last_time")
_AMOUNTS = {
    "allocated": "Allocated", "request": "Request", "deserved": "Deserved", "capacity": "Capacity",
    "real_capacity": "Capacity", "inqueue": "Inqueue",
}  # fmt: skip


def exponential_range(least: float, most: float, count: int) -> tuple[float, ...]:
    """Upper bounds of buckets from least to most, each the same factor above the one before."""
    factor = exp(log(most / least) / (count - 1))
    bounds = [least]
    for _ in range(count - 1):
        bounds.append(bounds[-1] * factor)
    return tuple(bounds)


_SESSION = exponential_range(1, 5000, 20)


def _families() -> Iterator[Family]:
    yield Family("e2e_scheduling_latency_milliseconds", "histogram", "Duration of a session.", (), _SESSION)
    yield Family("open_session_duration_milliseconds", "histogram", "Duration of opening a session.", (), _SESSION)
    yield Family(
        "e2e_job_scheduling_latency_milliseconds", "histogram", "From the creation of a job to its last task assumed.",
        (), exponential_range(100, 120000, 30),
    )  # fmt: skip
    yield Family(_JOB_TIMES[0], "gauge", "From the creation of a job to its last task assumed, in milliseconds.", _JOB)
    yield Family(_JOB_TIMES[1], "gauge", "When a job was created.", _JOB)
    yield Family(_JOB_TIMES[2], "gauge", "When a task of a job was last assumed.", _JOB)
    yield Family(
        "plugin_scheduling_latency_milliseconds", "histogram", "Duration of a plugin.", ("plugin", "OnSession"),
        exponential_range(0.1, 100, 15),
    )  # fmt: skip
    yield Family(
        "action_scheduling_latency_milliseconds", "histogram", "Duration of an action.", ("action",),
        exponential_range(1, 2000, 20),
    )  # fmt: skip
    yield Family(
        "task_scheduling_latency_milliseconds", "histogram", "From the creation of a task to a stage.", ("stage",),
        exponential_range(50, 60000, 30),
    )  # fmt: skip
    yield Family(
        "scheduling_stage_duration_milliseconds", "histogram", "Duration of the stages of a task.", ("stage",),
        exponential_range(0.1, 500, 20),
    )  # fmt: skip
    yield Family("schedule_attempts_total", "counter", "Pods by what became of them in a session.", ("result",))
    yield Family("pod_preemption_victims", "gauge", "Victims that preemption last chose among.")
    yield Family("total_preemption_attempts", "counter", "How often preemption was tried.")
    yield Family(
        "eviction_transactions_total", "counter", "Statements with evictions that were committed.", ("action",)
    )
    yield Family("unschedule_task_count", "gauge", "Tasks that a gang lacks.", ("job_id",))
    yield Family("unschedule_job_count", "gauge", "Jobs that could not be scheduled.")
    yield Family("job_share", "gauge", "Dominant share of a job.", ("job_ns", "job_id"))
    yield Family("job_retry_counts", "counter", "Sessions in which a job could not be scheduled.", ("job_id",))
    for name, title in _AMOUNTS.items():
        yield Family(f"queue_{name}_milli_cpu", "gauge", f"{title} CPU of a queue.", ("queue_name",))
        yield Family(f"queue_{name}_memory_bytes", "gauge", f"{title} memory of a queue.", ("queue_name",))
        labels = ("queue_name", "resource")
        yield Family(f"queue_{name}_scalar_resources", "gauge", f"{title} scalar resources of a queue.", labels)
    for name, title in (("share", "Share"), ("weight", "Weight"), ("overused", "Whether others come first")):
        yield Family(f"queue_{name}", "gauge", f"{title} of a queue.", ("queue_name",))


class VolcanoMetrics:
    """All metrics of a scheduler; sessions tell it of themselves."""

    def __init__(self, seconds: Callable[[], float], now: Callable[[], int]) -> None:
        """`seconds` is a clock for durations, `now` the one of the cluster in microseconds."""
        self._seconds, self._now = seconds, now
        self._families = {family.name: family for family in _families()}
        self.inc("schedule_attempts_total", "scheduled", by=0)

    def timed(self, name: str, *labels: str) -> AbstractContextManager[None]:
        return self._timed(name, labels)

    @contextmanager
    def _timed(self, name: str, labels: tuple[str, ...]) -> Iterator[None]:
        began = self._seconds()
        yield
        self.observe(name, (self._seconds() - began) * 1000, *labels)

    def inc(self, name: str, *labels: str, by: float = 1) -> None:
        self._families[name].inc(*labels, by=by)

    def set(self, name: str, value: float, *labels: str) -> None:
        self._families[name].set(value, *labels)

    def observe(self, name: str, milliseconds: float, *labels: str) -> None:
        self._families[name].observe(milliseconds, *labels)

    def placed(self, job: JobInfo) -> None:
        now = self._now()
        since = max(now - job.created, 0) * 1000 / SECOND
        self.set("e2e_job_scheduling_duration", since, *_labels(job))
        self.set("e2e_job_scheduling_last_time", now // SECOND, *_labels(job))
        self.observe("e2e_job_scheduling_latency_milliseconds", since)

    def reached(self, stage: str, created: int) -> None:
        since = max(self._now() - created, 0) * 1000 / SECOND
        self.observe("task_scheduling_latency_milliseconds", since, stage)

    def take(self, session: Session, result: SessionResult) -> None:
        """Takes in a session at its end."""
        self.inc("schedule_attempts_total", "scheduled", by=len(result.binds))
        for job in session.jobs.values():
            self.set("e2e_job_scheduling_start_time", job.created // SECOND, *_labels(job))
        known = {_labels(job) for job in session.jobs.values()}
        names = {job.name for job in session.jobs.values()}
        for name in _JOB_TIMES:
            self._keep(name, known.__contains__)
        for name in ("unschedule_task_count", "job_retry_counts"):
            self._keep(name, lambda labels: labels[0] in names)
        self._keep("job_share", lambda labels: "/".join(labels) in session.jobs)
        self._take_queues(session)

    def _keep(self, name: str, is_known: Callable[[tuple[str, ...]], bool]) -> None:
        """Drops the values of what is gone."""
        family = self._families[name]
        family.values = {labels: value for labels, value in family.values.items() if is_known(labels)}

    def _take_queues(self, session: Session) -> None:
        for family in self._families.values():
            if family.name.startswith("queue_"):
                family.values.clear()
        for queue, values in session.queue_metrics().items():
            for key, value in values.items():
                name, _, resource = key.removesuffix("]").partition("[")
                self.set(f"queue_{name}", value, queue, *([resource] if resource else []))

    def text(self) -> str:
        """All metrics in the text format of Prometheus."""
        return "".join(f"{line}\n" for family in self._families.values() for line in family.lines(PREFIX))


def _labels(job: JobInfo) -> tuple[str, str, str]:
    return job.name, job.queue, job.namespace
