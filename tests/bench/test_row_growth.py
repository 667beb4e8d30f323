"""What a cycle costs, counted without a clock: the rows that plugins are asked about."""

import pytest

from seatrial.bench.workload_run import WorkloadRun
from seatrial.bench.workloads import Barrier, CreateNamespaces, CreateNodes, CreatePods, Workload

WARM, MEASURED = 20, 100
ZONES = ("zone-0", "zone-1", "zone-2")


def steady_rows(nodes: int, template: str) -> tuple[float, float]:
    """Rows asked about and rows visited per pod, once the columns of the shape are there."""
    run = WorkloadRun()
    steps = (
        CreateNodes(count=nodes, template="node-default", zones=ZONES),
        CreateNamespaces(prefix="sched", count=1),
        CreatePods(count=WARM, template=template, namespace="sched-0"),
        Barrier(),
        CreatePods(count=MEASURED, template=template, namespace="sched-0"),
    )
    run.scheduler.start()
    run.run_steps(Workload("growth", 0, steps))
    algorithm = run.scheduler.algorithm
    before, visited = algorithm.rows_evaluated, 0
    while run.scheduler.has_work():
        decision = run.scheduler.schedule_one()
        assert decision is not None and decision.node
        visited += decision.feasible_count + decision.rejected_count
    return (algorithm.rows_evaluated - before) / MEASURED, visited / MEASURED


def test_a_bind_makes_three_rows_at_most_be_asked_about_again() -> None:
    rows, window = steady_rows(1000, "pod-default")
    assert window >= 100
    assert rows <= 3


@pytest.mark.parametrize("template", ["pod-anti-affinity", "pod-topology-spreading", "pod-affinity"])
def test_plugins_that_look_at_the_cluster_are_asked_about_little_more_than_the_search_window(template: str) -> None:
    rows, window = steady_rows(1000, template)
    assert rows <= 1.25 * window + 3


@pytest.mark.parametrize("template", ["pod-default", "pod-anti-affinity", "pod-affinity"])
def test_twice_the_nodes_cost_hardly_more_rows(template: str) -> None:
    few, _ = steady_rows(5000, template)
    many, _ = steady_rows(10_000, template)
    assert many <= 1.3 * few


def test_workloads_that_keep_their_own_pods_apart_share_what_depends_on_the_node() -> None:
    groups, rounds, nodes = 40, 5, 200
    run = WorkloadRun()
    steps = (
        CreateNodes(count=nodes, template="node-large", zones=ZONES),
        CreatePods(count=groups * rounds, template="pod-oracle-anti", measured=True, groups=groups),
    )
    timing = run.run(Workload("groups", 0, steps))
    assert timing.rows_evaluated <= 2.5 * groups * nodes, "each round made the index of each group anew"
