"""The built-in cluster-autoscaler: growing for pending pods, and shrinking by upstream's rules.

Tests: scenario/autoscaler/*.py
"""

from typing import Any

import pytest

from seatrial.scenario.autoscaler import Flags
from seatrial.scenario.autoscaler.drainability import Drainability
from seatrial.scenario.cluster import fresh_store
from tests.scenario.playing import create, delete, done, operations
from tests.scenario.running import Run, node, pod

API = "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1"
BOTH = ("scheduler", "cluster-autoscaler")
TAINT = [{"key": "only", "effect": "NoSchedule"}]


def group(name: str, cpu: str = "4", **spec: Any) -> dict[str, Any]:
    template = {"capacity": {"cpu": cpu, "memory": "16Gi", "pods": "110"}, **spec.pop("template", {})}
    spec = {"maxSize": 10, "template": template, **spec}
    return {"apiVersion": API, "kind": "NodeGroup", "metadata": {"name": name}, "spec": spec}


def replicas(count: int, cpu: str = "1", name: str = "web", **more: Any) -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"app": name}, **more.pop("metadata", {})},
        "spec": pod("x", cpu, **more)["spec"],
    }
    spec = {"replicas": count, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def scale(step: int, count: int) -> dict[str, Any]:
    return {
        "step": step,
        "patchOperation": {
            "typeMeta": {"apiVersion": "apps/v1", "kind": "ReplicaSet"},
            "objectMeta": {"name": "web", "namespace": "default"},
            "patchType": "application/merge-patch+json",
            "patch": f'{{"spec": {{"replicas": {count}}}}}',
        },
    }


def played(*items: dict[str, Any], flags: str = "", duration: str = "") -> Run:
    annotations = {"cluster_autoscaler": flags} | ({"step_duration": duration} if duration else {})
    run = Run(operations(*items, simulated=BOTH), annotations)
    assert run.status["phase"] == "Succeeded", run.status["message"]
    return run


def nodes(run: Run) -> list[str]:
    return sorted(stored.name for stored in run.store.list(run.store.kinds.served("v1", "Node")))


def bound(run: Run) -> list[str]:
    stored = run.store.list(run.store.kinds.served("v1", "Pod"))
    return sorted(document["spec"].get("nodeName", "") for document in (each.document() for each in stored))


def test_a_group_grows_by_the_nodes_that_the_pods_need() -> None:
    run = played(create(0, group("a")), *(create(1, pod(f"p{n}")) for n in range(10)), done(2))
    assert nodes(run) == ["a-1", "a-2", "a-3"]
    assert "" not in bound(run)


def test_pods_that_fit_on_nodes_need_none() -> None:
    run = played(create(0, group("a")), create(0, node("n")), create(1, pod("p")), done(2))
    assert (nodes(run), bound(run)) == (["n"], ["n"])


def test_a_group_does_not_grow_beyond_its_largest_size() -> None:
    run = played(create(0, group("a", maxSize=2)), *(create(1, pod(f"p{n}")) for n in range(10)), done(2))
    assert nodes(run) == ["a-1", "a-2"]
    assert bound(run).count("") == 2


def test_nodes_that_belong_by_their_labels_count() -> None:
    mine = group("a", maxSize=2, selector={"pool": "a"})
    run = played(
        create(0, mine), create(0, node("n", pool="a")), *(create(1, pod(f"p{n}")) for n in range(12)), done(2)
    )
    assert nodes(run) == ["a-1", "n"]


def test_a_group_whose_nodes_the_pod_does_not_tolerate_is_left_alone() -> None:
    tainted = group("a", template={"taints": TAINT})
    chosen = group("b", template={"labels": {"disk": "ssd"}})
    run = played(create(0, tainted), create(0, chosen), create(1, pod("p", nodeSelector={"disk": "ssd"})), done(2))
    assert nodes(run) == ["b-1"]


def test_anti_affinity_takes_a_node_for_each_pod() -> None:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    run = played(create(0, group("a")), create(1, replicas(3, affinity=apart)), done(2))
    assert bound(run) == ["a-1", "a-2", "a-3"]


@pytest.mark.parametrize(
    ("flags", "chosen"),
    [
        ("", "fitting-1"),
        ("--expander=least-waste", "fitting-1"),
        ("--expander=price", "cheap-1"),
        ("--expander=priority", "first-1"),
        ("--expander=most-pods", "cheap-1"),
    ],
)
def test_the_expander_chooses_the_group(flags: str, chosen: str) -> None:
    run = played(
        create(0, group("cheap", "16", pricePerHour=0.1)),
        create(0, group("first", "1500m", pricePerHour=1, priority=10, maxSize=1, template={"taints": TAINT})),
        create(0, group("fitting", "1", pricePerHour=2, maxSize=2)),
        *(create(1, pod(f"p{n}", tolerations=[{"operator": "Exists"}])) for n in range(3)),
        done(2),
        flags=flags,
    )
    assert chosen in nodes(run)


@pytest.mark.parametrize("wasteful", ["a", "b"])
def test_waste_is_measured_by_capacity(wasteful: str) -> None:
    room = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    groups = [group(name, "8" if name == wasteful else "4", template={"allocatable": room}) for name in "ab"]
    run = played(*(create(0, each) for each in groups), create(1, pod("p")), done(2))
    assert nodes(run) == ["b-1" if wasteful == "a" else "a-1"]


def test_the_random_expander_repeats_its_choice() -> None:
    items = create(0, group("a")), create(0, group("b")), create(1, pod("p")), done(2)
    assert nodes(played(*items, flags="--expander=random")) == nodes(played(*items, flags="--expander=random"))


def test_a_new_node_is_there_after_its_delay_and_is_not_asked_for_twice() -> None:
    run = played(create(0, group("a", startupDelay="90s")), create(1, pod("p")), create(1, pod("q")), done(2))
    assert nodes(run) == ["a-1"]
    (created,) = [entry for entry in run.entries("create") if entry["create"]["result"]["kind"] == "Node"]
    assert created["create"]["result"]["metadata"]["creationTimestamp"] == "2030-01-01T00:01:30Z"


def test_a_node_that_is_not_needed_for_a_while_goes() -> None:
    items = create(0, group("a")), create(1, replicas(8)), scale(2, 2)
    assert nodes(played(*items, done(3), duration="5m")) == ["a-1", "a-2"]
    run = played(*items, done(4), duration="15m")
    assert len(nodes(run)) == 1
    assert "" not in bound(run)


def test_empty_nodes_go_down_to_the_smallest_size() -> None:
    items = create(0, group("a", minSize=1)), *(create(1, pod(f"p{n}", "4")) for n in range(3))
    gone = [delete(2, pod(f"p{n}")) for n in range(3)]
    assert len(nodes(played(*items, *gone, done(4), duration="15m"))) == 1


@pytest.mark.parametrize(
    ("more", "goes"),
    [
        ({}, True),
        ({"metadata": {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}}}, False),
        ({"volumes": [{"name": "v", "emptyDir": {}}]}, False),
        ({"volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]}, True),
        ({"metadata": {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "perhaps"}}}, True),
        (
            {
                "volumes": [{"name": "v", "emptyDir": {}}],
                "metadata": {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "w,v"}},
            },
            True,
        ),
        (
            {
                "volumes": [{"name": "v", "emptyDir": {}}],
                "metadata": {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}},
            },
            True,
        ),
    ],
)
def test_some_pods_keep_their_node(more: dict[str, Any], goes: bool) -> None:
    more = {**more, "metadata": {"labels": {"app": "web"}, **more.get("metadata", {})}}
    run = played(create(0, group("a")), create(0, node("n")), create(0, filler()), create(1, replicas(1, **more)),
                 delete(2, filler()), done(4), duration="15m")  # fmt: skip
    assert (nodes(run) == ["n"]) is goes


def filler() -> dict[str, Any]:
    """A pod that fills the node n for a while."""
    return pod("filler", "4")


def test_a_bare_pod_keeps_its_node() -> None:
    run = played(create(0, group("a")), create(0, node("n")), create(0, filler()), create(1, pod("p")),
                 delete(2, filler()), done(4), duration="15m")  # fmt: skip
    assert nodes(run) == ["a-1", "n"]


@pytest.mark.parametrize(
    ("kind", "custom", "blocked"),
    [("Fleet", True, True), ("Fleet", False, False), ("ReplicaSet", True, True), ("ReplicaSet", False, False)],
)
def test_a_pod_of_a_custom_controller_or_of_one_that_is_gone_keeps_its_node(
    kind: str, custom: bool, blocked: bool
) -> None:
    store = fresh_store()
    owned = pod("p")
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "f", "uid": "u", "controller": True}
    owned["metadata"] |= {"ownerReferences": [owner], "namespace": "default"}
    stored = store.create(store.kinds.served("v1", "Pod"), owned, writer="test")
    judge = Drainability(store, Flags(skip_nodes_with_custom_controller_pods=custom), "test", lambda _: None)
    assert judge.is_blocked(stored.document()) is blocked


def budget(available: int, namespace: str = "default") -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": namespace},
        "spec": {"minAvailable": available, "selector": {"matchLabels": {"app": "web"}}},
    }


@pytest.mark.parametrize(
    ("last", "more", "left"),
    [
        (4, (), 2),
        (6, (), 1),  # an hour after it was created
        (4, (budget(0, "kube-system"),), 1),
    ],
)
def test_a_system_pod_without_a_budget_keeps_its_node_for_an_hour(
    last: int, more: tuple[dict[str, Any], ...], left: int
) -> None:
    web = replicas(1)
    web["metadata"]["namespace"] = "kube-system"
    first = (group("a"), node("n"), filler(), *more)
    run = played(*(create(0, each) for each in first), create(1, web), delete(2, filler()), done(last), duration="15m")
    assert len(nodes(run)) == left


def test_a_disruption_budget_keeps_a_node() -> None:
    run = played(create(0, group("a")), create(0, node("n")), create(0, filler()), create(0, budget(1)),
                 create(1, replicas(1)), delete(2, filler()), done(4), duration="15m")  # fmt: skip
    assert nodes(run) == ["a-1", "n"]


def test_a_busy_node_stays() -> None:
    run = played(create(0, group("a")), create(0, node("n")), create(0, filler()), create(1, replicas(3)),
                 delete(2, filler()), done(4), duration="15m")  # fmt: skip
    assert nodes(run) == ["a-1", "n"]


def test_a_wrong_flag_is_named() -> None:
    run = Run(operations(done(1), simulated=BOTH), {"cluster_autoscaler": "--expander=cheapest"})
    assert run.status["phase"] == "Failed"
    assert "cluster-autoscaler: Invalid enum value 'cheapest'" in run.status["message"]
