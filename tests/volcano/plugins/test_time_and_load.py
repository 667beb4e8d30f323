"""Plugins that go by the clock or by the load of nodes."""

import pytest

from seatrial.model.documents import Document
from seatrial.model.times import MINUTE, parse_time
from seatrial.volcano.framework.session import SessionOptions
from tests.volcano.sessions import binds, cycle, group, node, pod

NOON = parse_time("2030-01-01T12:00:00Z")
USAGE = "simulation.kube-scheduler-simulator.x-k8s.io/usage"


def conf(actions: str, *plugins: str) -> str:
    listed = "".join(f"  - name: {name}\n" for name in plugins)
    return f'actions: "{actions}"\ntiers:\n- plugins:\n{listed}'


def lent(name: str, zone: str) -> Document:
    document = node(name)
    document["metadata"]["labels"] = {"volcano.sh/revocable-zone": zone}
    return document


TDM = conf("allocate, shuffle", "gang", "predicates") + (
    "  - name: tdm\n    arguments:\n"
    '      tdm.revocable-zone.day: "08:00-18:00"\n      tdm.revocable-zone.night: "22:00-06:00"\n'
)
REVOCABLE = {"volcano.sh/revocable-zone": "*"}


def test_a_lent_node_takes_revocable_tasks_while_its_zone_is_open() -> None:
    nodes = [lent("day", "day"), lent("night", "night")]
    pods = [pod("a-w-0", "a", annotations=REVOCABLE), pod("b-w-0", "b")]
    _, result = cycle(nodes, pods, [group("a"), group("b")], conf=TDM, now=NOON)
    assert binds(result) == {"a-w-0": "day"}


def test_tasks_leave_a_lent_node_when_its_zone_closes_one_of_a_job_in_a_period() -> None:
    nodes = [lent("night", "night"), node("own")]
    notes = {"volcano.sh/preemptable": "true"}
    pods = [pod(f"a-w-{i}", "a", on="night", annotations=notes) for i in range(3)]
    options = SessionOptions()
    _, first = cycle(nodes, pods, [group("a", phase="Running")], conf=TDM, now=NOON, options=options)
    _, second = cycle(nodes, pods, [group("a", phase="Running")], conf=TDM, now=NOON + MINUTE // 2, options=options)
    assert [(task.name, reason) for task, reason in first.evictions] == [("a-w-0", "shuffle")]
    assert not second.evictions


def test_a_node_under_load_is_avoided() -> None:
    busy = pod("there", on="n1", cpu="1", annotations={USAGE: "cpu=7,memory=1Gi"})
    text = conf("allocate", "gang", "predicates", "usage")
    _, result = cycle([node("n1"), node("n2")], [busy, pod("a-w-0", "a")], [group("a")], conf=text, now=NOON)
    assert binds(result) == {"a-w-0": "n2"}
    _, alone = cycle([node("n1")], [busy, pod("a-w-0", "a")], [group("a")], conf=text, now=NOON)
    assert "the CPU load of the node exceeds the upper limit." in str(alone.statuses["default/a"]["conditions"])


def test_tasks_just_placed_count_as_load() -> None:
    text = conf("allocate", "gang", "predicates", "usage")
    pods = [pod(f"a-w-{i}", "a", cpu="2") for i in range(2)]
    _, result = cycle([node("n1"), node("n2")], pods, [group("a", 2)], conf=text, now=NOON)
    assert sorted(binds(result).values()) == ["n1", "n2"]


def test_limits_of_init_containers_and_overhead_count_as_load() -> None:
    text = conf("allocate", "gang", "predicates", "usage") + "    arguments: {estimator: {burst_ratio: 1}}\n"
    start = {"name": "start", "resources": {"limits": {"cpu": "5", "memory": "9Gi"}}}
    first = pod("a-w-0", "a", cpu="2", initContainers=[start], overhead={"cpu": "1"})
    session, result = cycle([node("n1")], [first], [group("a")], conf=text, now=NOON)
    assert result.binds
    # 3 cpus of 8 at a ratio of 0.7, and 3 more up to the limit of 6; 1Gi of 32Gi at 0.7, and 8 more up to 9.
    cpu, memory = (3 * 0.7 + 3) / 8, (1 * 0.7 + 8) / 32
    score = session.node_scores(result.binds[0], session.all_rows)[0]
    assert score == pytest.approx(((1 - cpu) + (1 - memory)) / 2 * 100 * 5)


def test_rescheduling_moves_tasks_from_busy_nodes_once_in_an_interval() -> None:
    text = conf("shuffle", "gang") + (
        "  - name: rescheduling\n    arguments:\n      interval: 5m\n      strategies:\n"
        "      - name: lowNodeUtilization\n        params:\n"
        "          thresholds: {cpu: 20, memory: 20}\n          targetThresholds: {cpu: 50, memory: 50}\n"
    )
    pods = [pod(f"a-w-{i}", "a", cpu="2", on="n1") for i in range(3)]
    options = SessionOptions()
    groups = [group("a", phase="Running")]
    nodes = [node("n1"), node("n2")]
    _, first = cycle(nodes, pods, groups, conf=text, now=NOON, options=options)
    _, later = cycle(nodes, pods, groups, conf=text, now=NOON + 6 * MINUTE, options=options)
    assert not first.evictions
    assert [task.name for task, _ in later.evictions] == ["a-w-0", "a-w-1"]


def test_rescheduling_moves_a_burstable_pod_before_one_whose_equal_limit_is_written_differently() -> None:
    text = conf("shuffle", "gang") + (
        "  - name: rescheduling\n    arguments:\n      interval: 1m\n      strategies:\n"
        "      - name: lowNodeUtilization\n"
        "        params: {thresholds: {cpu: 20, memory: 20}, targetThresholds: {cpu: 88, memory: 88}}\n"
    )
    note = {"volcano.sh/preemptable": "true", USAGE: "cpu=4,memory=1Gi"}
    guaranteed = pod("a-w-0", "a", on="busy", annotations=note)
    guaranteed["spec"]["containers"][0]["resources"] = {
        "requests": {"cpu": "1000m", "memory": "1024Mi"},
        "limits": {"cpu": "1", "memory": "1Gi"},
    }
    burstable = pod("a-w-1", "a", on="busy", annotations=note)
    options, groups = SessionOptions(), [group("a", phase="Running")]
    nodes = [node("busy"), node("idle")]
    for minute in (0, 2):
        at = NOON + minute * MINUTE
        _, result = cycle(nodes, [guaranteed, burstable], groups, conf=text, now=at, options=options)
    assert [task.name for task, _ in result.evictions] == ["a-w-1"]
