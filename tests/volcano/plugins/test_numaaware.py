"""The numa-aware plugin assigns cpus by the topology of nodes and the kubelet's policies."""

from typing import Any

import pytest

from seatrial.model.documents import Document
from seatrial.volcano.cache.numa_info import Cpus, NumatopoInfo, Numatopologies, parse_cpu_set
from seatrial.volcano.plugins.nodes.cpu_assignment import CpuRequest, Hint, take_by_topology, topology_hints
from tests.volcano.sessions import binds, cycle, group, node, pod

CONF = """
actions: "allocate"
tiers:
- plugins: [{name: gang}, {name: predicates}, {name: numa-aware, arguments: {weight: 10}}]
"""
DETAIL = {str(cpu): {"numa": cpu // 4, "socket": cpu // 4, "core": cpu // 2} for cpu in range(8)}
"""Two sockets with a NUMA node each, of two cores with two threads."""


def topology(
    name: str, policy: str = "best-effort", free: str = "0-7", manager: str = "static", **spec: Any
) -> Document:
    policies = {"CPUManagerPolicy": manager, "TopologyManagerPolicy": policy}
    numares = {"cpu": {"allocatable": free, "capacity": 8}}
    return {"metadata": {"name": name}, "spec": {"policies": policies, "numares": numares, "cpuDetail": DETAIL, **spec}}


def reported(*documents: Document) -> Numatopologies:
    known = Numatopologies()
    for document in documents:
        known.report(document)
    return known


def task(name: str, cpus: str = "4", policy: str = "", **limits: str) -> Document:
    annotations = {"volcano.sh/numa-topology-policy": policy} if policy else {}
    made = pod(f"{name}-w-0", name, cpu=cpus, annotations=annotations)
    container = made["spec"]["containers"][0]
    container["resources"]["limits"] = container["resources"]["requests"] | limits
    return made


def placed(known: Numatopologies, *tasks: Document) -> dict[str, str]:
    names = [entry["metadata"]["name"].split("-")[0] for entry in tasks]
    nodes = [node("n1"), node("n2")]
    _, result = cycle(nodes, list(tasks), [group(name) for name in names], conf=CONF, numatopologies=known)
    return binds(result)


def why_not(known: Numatopologies, wanted: Document) -> str:
    session, _ = cycle([node("n1")], [wanted], [group("a")], conf=CONF, numatopologies=known)
    return session.jobs["default/a"].nodes_fit_errors["uid-a-w-0"].message()


def request(cpus: str, free: set[int], policy: str = "best-effort", **spec: Any) -> CpuRequest:
    info = NumatopoInfo.read(topology("n1", policy, **spec))
    return CpuRequest({"resources": {"requests": {"cpu": cpus}}}, info, {"cpu": frozenset(free)})


@pytest.mark.parametrize(
    ("count", "free", "hints"),
    [
        (4, range(8), [Hint(1, True), Hint(2, True), Hint(3, False)]),
        (4, range(1, 8), [Hint(2, True), Hint(3, False)]),
        (5, range(8), [Hint(3, True)]),
        (8, range(8), [Hint(3, True)]),
        (9, range(8), []),
        (4, range(2, 6), [Hint(3, False)]),
    ],
)
def test_hints_are_those_of_upstreams_cases(count: int, free: range, hints: list[Hint]) -> None:
    cpus = NumatopoInfo.read(topology("n1")).cpus
    assert topology_hints(frozenset(free), cpus, count) == hints


@pytest.mark.parametrize(
    ("cpus", "free", "mask", "chosen"),
    [
        ("4", range(8), 1, {0, 1, 2, 3}),
        ("4", range(1, 8), 2, {4, 5, 6, 7}),
        ("5", range(8), 3, {0, 1, 2, 3, 4}),
        ("5", range(1, 8), 3, {1, 4, 5, 6, 7}),
        ("8", range(1, 8), 3, set()),
    ],
)
def test_cpus_are_chosen_as_in_upstreams_cases(cpus: str, free: range, mask: int, chosen: set[int]) -> None:
    assert request(cpus, set(free)).assign(Hint(mask, True)) == chosen


def test_reserved_cpus_are_rounded_up_and_left_alone() -> None:
    asked = request("4", set(range(8)), "single-numa-node", resReserved={"cpu": "500m"})
    assert asked.best_hint() == Hint(2, True)
    assert request("4", set(range(8)), resReserved={"cpu": "1", "gpu": "1"}).best_hint() == Hint(1, True)


@pytest.mark.parametrize(
    ("policy", "hint"), [("best-effort", Hint(3, False)), ("restricted", None), ("single-numa-node", None)]
)
def test_scattered_cpus_are_admitted_by_best_effort_only(policy: str, hint: Hint | None) -> None:
    assert request("4", {2, 3, 4, 5}, policy).best_hint() == hint


@pytest.mark.parametrize(
    ("policy", "hint"), [("best-effort", Hint(3, True)), ("restricted", Hint(3, True)), ("single-numa-node", None)]
)
def test_more_than_a_numa_node_has_is_refused_by_single_numa_node_only(policy: str, hint: Hint | None) -> None:
    assert request("6", set(range(8)), policy).best_hint() == hint


def test_a_part_of_a_cpu_has_no_preference() -> None:
    asked = request("1500m", {0, 4}, "single-numa-node")
    assert asked.best_hint() == Hint(3, True)
    assert asked.assign(Hint(3, True)) == frozenset()


def test_not_enough_cpus_are_none() -> None:
    assert take_by_topology(NumatopoInfo.read(topology("n1")).cpus, frozenset({1}), 2) is None


@pytest.mark.parametrize(
    ("text", "cpus"), [("", set()), ("0-2,5", {0, 1, 2, 5}), ("3-1", set()), ("a", set()), ("1,", set())]
)
def test_a_cpu_set_that_cannot_be_read_is_empty(text: str, cpus: Cpus) -> None:
    assert parse_cpu_set(text) == cpus


def test_a_node_whose_cpus_are_close_together_is_preferred() -> None:
    known = reported(topology("n1", free="2-5"), topology("n2", free="0-3"))
    assert placed(known, task("a", policy="best-effort")) == {"a-w-0": "n2"}


def test_a_node_that_cannot_align_the_cpus_is_refused_with_the_container() -> None:
    known = reported(topology("n1", "single-numa-node", free="2-5"))
    text = "0/1 nodes are unavailable: 1 container main cannot be assigned by numa."
    assert why_not(known, task("a", policy="single-numa-node")) == text


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        (reported(), "numa info is empty"),
        (reported(topology("n1", manager="none")), "cpu manager policy isn't static"),
        (
            reported(topology("n1", "restricted")),
            "task topology policy[best-effort] is different with node[restricted]",
        ),
        (reported(topology("n1", free="")), "cpu allocatable map is empty"),
    ],
)
def test_a_node_that_does_not_have_the_tasks_policy_is_refused(known: Numatopologies, reason: str) -> None:
    assert why_not(known, task("a", policy="best-effort")) == f"0/1 nodes are unavailable: 1 {reason}."


def test_a_task_without_a_policy_follows_the_policy_of_the_node() -> None:
    known = reported(topology("n1", "single-numa-node", free="2-5"), topology("n2", "none"))
    assert placed(known, task("a")) == {"a-w-0": "n2"}


def test_a_pod_that_is_not_guaranteed_goes_anywhere() -> None:
    known = reported(topology("n1", "single-numa-node", free="2-5"))
    assert placed(known, task("a", policy="single-numa-node", cpu="5")) == {"a-w-0": "n1"}


def test_tasks_of_one_session_do_not_share_cpus() -> None:
    known = reported(topology("n1", "single-numa-node", free="0-3"), topology("n2", "single-numa-node"))
    found = placed(known, task("a", policy="single-numa-node"), task("b", policy="single-numa-node"))
    assert sorted(found.values()) == ["n1", "n2"]


def test_what_a_session_assigned_is_gone_until_a_report_shows_its_pods() -> None:
    known = reported(topology("n1", "single-numa-node", free="0-3"))
    wanted = task("a", policy="single-numa-node")
    assert placed(known, wanted) == {"a-w-0": "n1"}
    known.report(topology("n1", "single-numa-node", free="0-3"))
    assert placed(known, wanted) == {}
    known.report(topology("n1", "single-numa-node", free="0-3", podAllocations=[{"uid": "uid-a-w-0"}]))
    assert placed(known, wanted) == {"a-w-0": "n1"}


def test_as_long_as_a_report_misses_one_pod_all_that_was_assigned_counts() -> None:
    known = reported(topology("n1"))
    known.assign(
        {("1", "x", "a"): ("n1", {"cpu": frozenset((0, 1))}), ("2", "x", "b"): ("n1", {"cpu": frozenset((6,))})}
    )
    known.report(topology("n1", free="2-7", podAllocations=[{"namespace": "x", "name": "a"}]))
    assert known.refresh()["n1"].free == {"cpu": {2, 3, 4, 5, 7}}
    known.remove_pod("2")
    assert known.refresh()["n1"].free == {"cpu": {2, 3, 4, 5, 6, 7}}


def test_a_numatopology_that_is_gone_is_forgotten() -> None:
    known = reported(topology("n1"))
    known.remove("n1")
    assert known.refresh() == {}
