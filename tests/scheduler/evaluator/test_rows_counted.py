"""What a cycle costs, counted in rows instead of seconds."""

import pytest

from tests.scheduler.cluster_builders import SmallCluster, a_node, a_pod


def rows_per_pod(nodes: int, pods: int) -> tuple[float, int]:
    """Rows asked about per pod in a steady run of one shape, and the most for a single one."""
    cluster = SmallCluster(*(a_node(f"n{number:05}") for number in range(nodes)))
    algorithm = cluster.algorithm
    costs = []
    for number in range(pods):
        pod = cluster.reader.read(a_pod(f"p{number}"))
        before = algorithm.rows_evaluated
        attempt = cluster.attempt(pod, cells=False)
        costs.append(algorithm.rows_evaluated - before)
        cluster.table.add_pod(pod.on(attempt.node))
    steady = costs[2:]  # the second pod of a shape makes its columns
    return sum(steady) / len(steady), max(steady)


def test_a_bind_costs_at_most_three_rows() -> None:
    mean, most = rows_per_pod(5000, 200)
    assert most <= 3
    assert mean <= 1


def test_twice_the_nodes_cost_no_more_rows() -> None:
    small, _ = rows_per_pod(5000, 100)
    large, _ = rows_per_pod(10_000, 100)
    assert large <= 1.3 * small


def test_rows_of_domains_do_not_grow_with_the_cluster() -> None:
    def cost(nodes: int) -> float:
        cluster = SmallCluster(*(a_node(f"n{number:05}", zone="z") for number in range(nodes)))
        term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
        affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        made = 0
        for number in range(20):
            made = cluster.algorithm.rows_evaluated if number == 3 else made
            pod = cluster.reader.read(a_pod(f"p{number}", labels={"app": "x"}, affinity=affinity))
            attempt = cluster.attempt(pod, cells=False)
            cluster.table.add_pod(pod.on(attempt.node))
        return (cluster.algorithm.rows_evaluated - made) / 17

    assert cost(10_000) <= 1.3 * cost(5000)


def test_the_first_pod_of_a_shape_costs_the_nodes_of_its_search() -> None:
    nodes = 5000
    cluster = SmallCluster(*(a_node(f"n{number:05}") for number in range(nodes)))
    for number in range(5):
        before = cluster.algorithm.rows_evaluated
        attempt = cluster.attempt(cluster.reader.read(a_pod(f"p{number}", cpu=f"{100 + number}m")), cells=False)
        assert attempt.found is not None
        assert cluster.algorithm.rows_evaluated - before == len(attempt.found.visited) + len(attempt.found.feasible)
        assert len(attempt.found.visited) < nodes


def test_a_shape_that_differs_in_labels_only_costs_what_a_known_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEATRIAL_KERNEL", "off")  # its plans are made for each shape
    cluster = SmallCluster(*(a_node(f"n{number:05}") for number in range(1000)))
    costs = []
    for number in range(6):
        pod = cluster.reader.read(a_pod(f"p{number}", labels={"app": str(number)}))
        before = cluster.algorithm.rows_evaluated
        attempt = cluster.attempt(pod, cells=False)
        costs.append(cluster.algorithm.rows_evaluated - before)
        cluster.table.add_pod(pod.on(attempt.node))
    assert max(costs[2:]) <= 3
