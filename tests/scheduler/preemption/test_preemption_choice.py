"""Whom preemption evicts and from where."""

from seatrial.model.documents import Document
from tests.scheduler.cluster_builders import PlainObjects, SmallCluster, a_node, a_pod


def budget(app: str, allowed: int) -> Document:
    return {
        "metadata": {"name": f"b-{app}", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": app}}},
        "status": {"disruptionsAllowed": allowed},
    }


def victims(cluster: SmallCluster, pod: Document) -> tuple[str, list[str]]:
    result = cluster.attempt(pod).post_filter
    assert result is not None
    return result.nominated_node or "", [victim.name for victim in result.victims]


def test_only_as_many_as_needed_are_evicted_the_least_important_ones() -> None:
    cluster = SmallCluster(a_node("n", cpu="3"))
    for start, name in enumerate(("old", "middle", "young")):
        cluster.bound(a_pod(name, cpu="1"), "n", start)
    assert victims(cluster, a_pod("p", cpu="1", priority=10)) == ("n", ["young"])


def test_a_pod_of_the_same_priority_is_never_a_victim() -> None:
    cluster = SmallCluster(a_node("n", cpu="1"))
    cluster.bound(a_pod("p", cpu="1", priority=10), "n")
    attempt = cluster.attempt(a_pod("q", cpu="1", priority=10))
    assert attempt.message == (
        "0/1 nodes are available: 1 Insufficient cpu. "
        "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
    )


def test_a_node_without_a_violated_budget_is_preferred() -> None:
    objects = PlainObjects(PodDisruptionBudget=[budget("guarded", 0)])
    cluster = SmallCluster(a_node("a", cpu="1"), a_node("b", cpu="1"), objects=objects)
    cluster.bound(a_pod("p", cpu="1", labels={"app": "guarded"}), "a")
    cluster.bound(a_pod("q", cpu="1", labels={"app": "free"}, priority=5), "b")
    assert victims(cluster, a_pod("r", cpu="1", priority=10)) == ("b", ["q"])


def test_violating_pods_are_put_back_first() -> None:
    objects = PlainObjects(PodDisruptionBudget=[budget("guarded", 0)])
    cluster = SmallCluster(a_node("n", cpu="2"), objects=objects)
    cluster.bound(a_pod("important", cpu="1", priority=5), "n")
    cluster.bound(a_pod("guarded", cpu="1", labels={"app": "guarded"}), "n")
    assert victims(cluster, a_pod("p", cpu="1", priority=10)) == ("n", ["important"])


def test_the_lowest_top_priority_wins_then_fewer_victims_then_the_later_start() -> None:
    cluster = SmallCluster(*(a_node(name, cpu="1") for name in "abc"))
    cluster.bound(a_pod("p", cpu="1", priority=5), "a", 0)
    cluster.bound(a_pod("q", cpu="1", priority=1), "b", 0)
    cluster.bound(a_pod("r", cpu="1", priority=1), "c", 9)
    assert victims(cluster, a_pod("s", cpu="1", priority=10)) == ("c", ["r"])


def test_a_pod_may_be_told_never_to_preempt() -> None:
    cluster = SmallCluster(a_node("n", cpu="1"))
    cluster.bound(a_pod("p", cpu="1"), "n")
    attempt = cluster.attempt(a_pod("q", cpu="1", priority=10, preemptionPolicy="Never"))
    assert attempt.message.endswith("preemption: not eligible due to preemptionPolicy=Never.")


def test_room_for_nominated_pods_is_not_taken() -> None:
    cluster = SmallCluster(a_node("n", cpu="2"))
    cluster.nominated(a_pod("waiting", cpu="2", priority=10), "n")
    assert cluster.attempt(a_pod("lesser", cpu="1", priority=5)).node == ""
    assert cluster.attempt(a_pod("greater", cpu="1", priority=20)).node == "n"


def test_two_pods_sharing_a_host_port_must_both_go() -> None:
    def with_port(document: Document) -> Document:
        document["spec"]["containers"][0]["ports"] = [{"containerPort": 1, "hostPort": 80}]
        return document

    cluster = SmallCluster(a_node("n"))
    for name in ("a", "b"):
        cluster.bound(with_port(a_pod(name)), "n")
    assert victims(cluster, with_port(a_pod("p", priority=10))) == ("n", ["a", "b"])


def test_dry_runs_are_tried_again_when_a_row_changes() -> None:
    cluster = SmallCluster(a_node("n", cpu="2"))
    first = cluster.bound(a_pod("a", cpu="1"), "n", 1)
    cluster.bound(a_pod("b", cpu="1"), "n", 2)
    assert victims(cluster, a_pod("p", cpu="1", priority=10)) == ("n", ["b"])
    cluster.table.remove_pod(first)
    cluster.bound(a_pod("c", cpu="1"), "n", 3)
    assert victims(cluster, a_pod("q", cpu="1", priority=10)) == ("n", ["c"])
