"""The metrics of vc-scheduler, by upstream's names."""

from itertools import count

from seatrial.volcano.apis import JOB, POD_GROUP, kind_of
from seatrial.volcano.config.scheduler_conf import load_conf
from seatrial.volcano.metrics.scheduler_metrics import VolcanoMetrics, exponential_range
from seatrial.volcano.scheduler import VolcanoScheduler
from tests.proofs import proves
from tests.volcano.objects import job, queue, task
from tests.volcano.test_scheduler import Cluster

RECLAIM = """\
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: drf}, {name: predicates}, {name: FAIRNESS}, {name: nodeorder}]
"""
OF_SESSIONS = {
    "e2e_scheduling_latency_milliseconds", "open_session_duration_milliseconds",
    "e2e_job_scheduling_latency_milliseconds", "e2e_job_scheduling_duration", "e2e_job_scheduling_start_time",
    "e2e_job_scheduling_last_time", "plugin_scheduling_latency_milliseconds", "action_scheduling_latency_milliseconds",
    "task_scheduling_latency_milliseconds", "scheduling_stage_duration_milliseconds", "schedule_attempts_total",
    "pod_preemption_victims", "total_preemption_attempts", "eviction_transactions_total", "unschedule_task_count",
    "unschedule_job_count", "job_share", "job_retry_counts",
}  # fmt: skip
UNITS = ("milli_cpu", "memory_bytes", "scalar_resources")


class Measured(Cluster):
    """A cluster whose scheduler is measured by a clock that ticks a second at each look."""

    def __init__(self, fairness: str) -> None:
        super().__init__("n1")
        self.scheduler.stop()
        self.metrics = VolcanoMetrics(count().__next__, self.clock.now)
        conf = load_conf(RECLAIM.replace("FAIRNESS", fairness))
        self.scheduler = VolcanoScheduler(
            self.store, self.clock, conf, events=False, measures=self.metrics, on_session=self.metrics.take
        )
        self.scheduler.start()

    def names(self) -> set[str]:
        lines = self.metrics.text().splitlines()
        return {line.split()[2].removeprefix("volcano_") for line in lines if line.startswith("# TYPE ")}


def reclaimed(fairness: str) -> Measured:
    """A cluster in which one queue took a pod from the other, and a job waits that fits on no node."""
    cluster = Measured(fairness)
    cluster.create(queue("a", deserved={"cpu": "2"}))
    cluster.create(queue("b", deserved={"cpu": "2"}, capability={"cpu": "3", "example.com/chip": "5"}))
    cluster.create(job("greedy", task(replicas=4), queue="a", minAvailable=1))
    cluster.settle()
    cluster.create(job("late", task(replicas=1), queue="b"))
    cluster.create(job("large", task(replicas=9), queue="b"))
    cluster.settle()
    return cluster


@proves("VC-043")
def test_every_metric_that_upstream_sets_is_there() -> None:
    by_proportion = {
        f"queue_{name}_{unit}" for name in ("allocated", "request", "deserved", "inqueue") for unit in UNITS
    }
    by_proportion |= {"queue_share", "queue_weight", "queue_overused"}
    assert reclaimed("proportion").names() == OF_SESSIONS | by_proportion
    by_capacity = {f"queue_{name}_{unit}" for name in ("capacity", "real_capacity") for unit in UNITS}
    names = reclaimed("capacity").names()
    assert names >= by_capacity | OF_SESSIONS
    assert len(names | by_proportion) == 39


def test_metrics_say_what_happened() -> None:
    text = reclaimed("capacity").metrics.text()
    assert 'volcano_eviction_transactions_total{action="reclaim"} 1\n' in text
    assert 'volcano_schedule_attempts_total{result="scheduled"} 5\n' in text
    assert 'volcano_queue_allocated_milli_cpu{queue_name="a"} 3000\n' in text
    assert 'volcano_queue_capacity_scalar_resources{queue_name="b",resource="example.com/chip"} 5000\n' in text
    assert 'volcano_plugin_scheduling_latency_milliseconds_count{OnSession="OnSessionClose",plugin="gang"}' in text
    assert 'volcano_task_scheduling_latency_milliseconds_count{stage="Bound"} 5\n' in text


def test_a_job_that_is_gone_is_not_exported() -> None:
    cluster = reclaimed("proportion")
    name = cluster.group_of("large")["metadata"]["name"]
    assert f'job_id="{name}"' in cluster.metrics.text()
    for kind, gone in ((JOB, "large"), (POD_GROUP, name)):
        cluster.store.delete(kind_of(cluster.store, kind), gone, writer="user", namespace="default")
    cluster.settle()
    assert name not in cluster.metrics.text()
    assert 'job_name="greedy' in cluster.metrics.text()


def test_buckets_are_those_of_prometheus() -> None:
    bounds = exponential_range(1, 5000, 20)
    assert len(bounds) == 20
    assert bounds[0] == 1 and abs(bounds[-1] - 5000) < 1e-6
    assert abs(bounds[1] - 1.5656) < 1e-3
