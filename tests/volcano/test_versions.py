"""What the versions of Volcano do otherwise than each other."""

from dataclasses import replace

import pytest

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError
from seatrial.volcano.config import SchedulerConf, helm_conf, load_conf, read_conf
from seatrial.volcano.versions import DEFAULT, VERSIONS, find_version
from tests.volcano.sessions import binds, cycle, group, node, pod, queue

PREEMPTING = """
actions: "enqueue, allocate, preempt"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}]
- plugins: [{name: predicates}, {name: proportion}, {name: nodeorder}]
"""
GROUPS = """
actions: "allocate"
tiers:
- plugins: [{name: gang}, {name: predicates}, {name: nodegroup}]
"""
ENQUEUEING = """
actions: "enqueue"
tiers:
- plugins: [{name: gang}, {name: proportion}, {name: resourcequota}]
"""


def of(version: str, conf: str | None = None) -> SchedulerConf:
    chosen = find_version(version)
    return replace(helm_conf(), version=chosen) if conf is None else load_conf(conf, version=chosen)


@pytest.mark.parametrize("name", ["1.15", "v1.15", "1.15.1", "v1.15.0"])
def test_a_version_is_found_by_its_minor_version_and_by_its_releases(name: str) -> None:
    assert find_version(name).release == "v1.15.1"


def test_the_default_is_the_newest_version() -> None:
    assert find_version("") is find_version("master") is DEFAULT is VERSIONS[0]
    assert read_conf(None) is None


def test_a_version_that_is_not_simulated_is_refused_with_those_that_are() -> None:
    with pytest.raises(ConfigError, match=r"--volcano-version.*1\.15, master.*'1\.9'"):
        find_version("1.9")


def test_a_plugin_that_is_not_simulated_for_a_version_is_refused() -> None:
    conf = 'actions: "allocate"\ntiers:\n- plugins: [{name: gang}, {name: usage}]'
    assert load_conf(conf).version is DEFAULT
    with pytest.raises(ConfigError, match=r"plugin usage is not simulated as Volcano 1\.15 has it"):
        load_conf(conf, version=find_version("1.15"))


@pytest.mark.parametrize(("version", "phase", "condition"), [("master", "Running", []), ("1.15", "Unknown", ["1/2"])])
def test_tasks_on_their_way_out_count_as_scheduled(version: str, phase: str, condition: list[str]) -> None:
    leaving = pod("p-1", "g", on="n")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:01:00Z"
    pods = [pod("p-0", "g", on="n"), leaving]
    _, result = cycle([node("n")], pods, [group("g", least=2, phase="Running")], conf=of(version))
    status = result.statuses["default/g"]
    assert status["phase"] == phase
    assert [each["message"][:3] for each in status.get("conditions", ())] == condition


@pytest.mark.parametrize(("version", "evicted"), [("master", ["low-0", "low-1"]), ("1.15", ["low-0"])])
def test_preempt_goes_on_until_the_predicates_pass(version: str, evicted: list[str]) -> None:
    """The host port is taken by the second victim, the room that is missing by either."""

    def with_port(document: Document) -> Document:
        document["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8080}]
        return document

    victims = [pod("low-0", "low-0", cpu="2", on="n", created=9), with_port(pod("low-1", "low-1", cpu="2", on="n"))]
    victims = [each | {"spec": each["spec"] | {"priority": 1}} for each in victims]
    high = with_port(pod("high-0", "high", cpu="2", priority=100))
    groups = [group("low-0", phase="Running"), group("low-1", phase="Running")]
    groups.append(group("high", priorityClassName="high"))
    classes = [{"metadata": {"name": "high"}, "value": 100}]
    _, result = cycle(
        [node("n", cpu="4")], [*victims, high], groups, conf=of(version, PREEMPTING), priority_classes=classes
    )
    assert [task.name for task, _ in result.evictions] == evicted


@pytest.mark.parametrize(("version", "placed"), [("master", {}), ("1.15", {"p-0": "n"})])
def test_a_queue_keeps_to_its_limits_in_a_group_of_nodes(version: str, placed: dict[str, str]) -> None:
    wide = node("n")
    wide["metadata"]["labels"] = {"volcano.sh/nodegroup-name": "a"}
    affinity = {"nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["a"]}}
    limited = queue(affinity=affinity)
    limited["metadata"]["annotations"] = {"volcano.sh/nodegroup-resource-limits": '{"a": {"cpu": "1"}}'}
    _, result = cycle([wide], [pod("p-0", "g", cpu="2")], [group("g")], [limited], of(version, GROUPS))
    assert binds(result) == placed


@pytest.mark.parametrize(("version", "let_in"), [("master", ["c"]), ("1.15", [])])
def test_a_job_that_another_plugin_keeps_out_counts_in_its_queue(version: str, let_in: list[str]) -> None:
    """proportion has nothing against the job of 6 cpus, the quota has; only in 1.15 it is in the way of the next."""
    other = {"namespace": "other"}
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "status": {"hard": {"cpu": "4"}, "used": {"cpu": "0"}},
    }
    big = group("b", phase="Pending", minResources={"cpu": "6"})
    small = group("c", phase="Pending", minResources={"cpu": "4"})
    small["metadata"] |= other
    from seatrial.verify.recorded_cluster import World

    _, result = cycle([node("n")], [], [big, small], conf=of(version, ENQUEUEING), objects=World([quota], []))
    assert [uid[-1] for uid, status in result.statuses.items() if status["phase"] == "Inqueue"] == let_in
