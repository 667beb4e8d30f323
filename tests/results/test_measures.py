"""Every measure against values worked out by hand from the story in conftest."""

from typing import Any

import polars as pl
import pytest

from seatrial import api
from seatrial.model.errors import ConfigError
from seatrial.results import measure as declarations
from seatrial.results.entries import Entry
from seatrial.results.headlines import headline
from seatrial.results.measure import all_measures, find_measures
from seatrial.results.measures.cost import price_of
from seatrial.results.run import Run
from tests.proofs import proves
from tests.results.conftest import Story, node, pod, told_run
from tests.scenario import running
from tests.scenario.playing import create, delete, done, operations, scenario

GI = 1024**3


def rows(run: Run, name: str, **where: Any) -> list[dict[str, Any]]:
    table = all_measures()[name].compute(run)
    for column, value in where.items():
        table = table.filter(pl.col(column) == value)
    return table.to_dicts()


def summary(run: Run, name: str) -> dict[str, float | None]:
    measure = all_measures()[name]
    found = dict(measure.summary(measure.compute(run)))
    assert all(map(measure.may_have, found))
    return found


def test_every_measure_with_a_summary_names_its_numbers() -> None:
    """Else a wrong name in --fail-if is refused only after the runs."""
    assert [name for name, measure in all_measures().items() if measure.may_have("such a number")] == []


def test_a_measure_is_known_as_long_as_it_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    known = all_measures()
    with monkeypatch.context() as patch:
        patch.setattr(declarations, "_declared", dict(declarations._declared))
        declarations.measure("declared_later")(lambda run: pl.DataFrame())
        assert set(all_measures()) - set(known) == {"declared_later"}
    assert all_measures() == known


@proves("V1-099", "V2-078")
def test_allocation_is_requests_over_what_is_offered(told: Run) -> None:
    """Changes of the allocation rate of the whole cluster."""
    assert [(row["step"], row["rate"]) for row in rows(told, "allocation", resource="cpu")] == [
        (1, pytest.approx(100 * 1 / 8)),
        (2, pytest.approx(100 * 4 / 8)),
        (3, pytest.approx(100 * 8 / 12)),
        (5, pytest.approx(100 * 7 / 12)),
    ]
    assert summary(told, "allocation")["allocation_memory"] == pytest.approx(100 * 2 / 24)


@proves("V1-100", "V2-079")
def test_utilisation_is_told_for_each_node_that_is_there(told: Run) -> None:
    """Changes of utilisation per node."""
    step3 = {row["node"]: row["rate"] for row in rows(told, "node_utilisation", resource="cpu", step=3)}
    assert step3 == {"n1": 100.0, "n2": 100.0, "n3": 0.0}
    assert {row["node"] for row in rows(told, "node_utilisation", step=1)} == {"n1", "n2"}


@proves("V1-099", "V1-100", "V2-078", "V2-079")
def test_allocation_and_utilisation_of_a_played_run_change_with_its_steps() -> None:
    """With the real scheduler: of 4 and later 8 cores 1 is held, then 3, then 2."""
    first, second = running.pod("first"), running.pod("second", cpu="2", nodeSelector={"disk": "ssd"})
    played = api.run(
        scenario(
            operations(
                create(1, running.node("a")), create(2, first), create(3, running.node("b", disk="ssd")),
                create(3, second), delete(5, first), done(5),
            )
        )
    ).run  # fmt: skip
    assert [(row["step"], row["rate"]) for row in rows(played, "allocation", resource="cpu")] == [
        (1, 0.0), (2, 25.0), (3, 37.5), (5, 25.0),
    ]  # fmt: skip
    assert [(row["step"], row["node"], row["rate"]) for row in rows(played, "node_utilisation", resource="cpu")] == [
        (1, "a", 0.0), (2, "a", 25.0), (3, "a", 25.0), (3, "b", 50.0), (5, "a", 0.0), (5, "b", 50.0),
    ]  # fmt: skip


@proves("V1-101")
def test_pods_are_told_with_their_steps_and_who_displaced_them(told: Run) -> None:
    """Aggregation by pod."""
    by_name = {row["pod"]: row for row in rows(told, "pods")}
    urgent = by_name["default/urgent"]
    assert (urgent["created"], urgent["bound"], urgent["preempted"]) == (3, 3, 5)
    assert urgent["preempted_by"] == "default/vital"
    assert by_name["default/huge"]["bound"] is None
    assert by_name["default/vital"]["attempts"] == 2
    assert by_name["default/small"]["ended"] == 5
    assert summary(told, "pods") == {"pods_bound": 4.0, "pods_preempted": 1.0}


@proves("V1-102", "V2-080")
def test_entries_come_in_order_for_a_users_own_sums(told: Run) -> None:
    """The generic iterator."""
    binds: list[Entry] = [entry for entry in told if entry.entry == "patch" and entry.writer == "scheduler"]
    assert [(entry.name, entry.major) for entry in binds] == [("small", 1), ("wide", 2), ("urgent", 3), ("vital", 5)]
    assert [entry.sequence for entry in told] == sorted(entry.sequence for entry in told)


@proves("V1-102", "V2-080")
def test_the_cluster_of_each_moment_is_at_hand(told: Run) -> None:
    """What a user asks of the cluster between two entries."""
    busiest = [(entry.name, len(cluster.on_node("n1"))) for entry, cluster in told.moments() if entry.entry == "patch"]
    assert busiest == [("small", 1), ("wide", 2), ("urgent", 2), ("vital", 2)]
    last = [cluster for _, cluster in told.moments()][-1]
    assert sorted(last.nodes) == ["n1", "n2", "n3"]
    assert [pod.name for pod in last.on_node("n1")] == ["wide"]


def test_balance_is_the_deviation_and_gini_of_shares(told: Run) -> None:
    (first,) = rows(told, "balance", resource="cpu", step=1)
    assert first["deviation"] == pytest.approx(12.5)  # shares 25 and 0
    assert first["gini"] == pytest.approx(0.5)
    (third,) = rows(told, "balance", resource="cpu", step=3)
    assert third["deviation"] == pytest.approx((2 * (100 / 3) ** 2 / 3 + (200 / 3) ** 2 / 3) ** 0.5)


def test_fragmentation_counts_pods_that_still_fit(told: Run) -> None:
    shape = f"cpu=3000, memory={GI}, pods=1"
    (second,) = rows(told, "fragmentation", step=2, shape=shape)
    assert (second["placeable"], second["ideal"]) == (1, 1)  # n1 is full, n2 has 4 cores
    (first,) = rows(told, "fragmentation", step=1, shape=shape)
    assert (first["placeable"], first["ideal"], first["lost"]) == (2, 2, 0.0)  # 3 and 4 cores free
    (last,) = rows(told, "fragmentation", step=5, shape=f"cpu=4000, memory={GI}, pods=1")
    assert (last["placeable"], last["ideal"]) == (1, 1)  # 1 + 0 + 4 cores free: one piece of 4


def test_pending_sums_up_to_the_integral(told: Run) -> None:
    assert [row["pending"] for row in rows(told, "pending")] == [0, 1, 1, 1]
    assert summary(told, "pending") == {"pending_integral": 3.0}


def test_waiting_is_by_nearest_rank(told: Run) -> None:
    steps, seconds = rows(told, "waiting")
    assert (steps["p50"], steps["p90"], steps["longest"]) == (0, 0, 0)
    assert seconds["unit"] == "seconds"


def test_preemptions_name_victim_and_preemptor(told: Run) -> None:
    assert rows(told, "preemptions") == [{"victim": "default/urgent", "by": "default/vital", "step": 5, "chain": 1}]
    assert summary(told, "preemptions") == {"preemptions": 1.0, "preemption_chain": 1.0}


def test_spread_is_the_skew_over_domains(told: Run) -> None:
    zone = {row["key"].rsplit("/")[-1]: row for row in rows(told, "spread")}
    assert (zone["zone"]["pods"], zone["zone"]["skew"]) == (2, 0)  # wide in a, vital in b
    assert (zone["hostname"]["domains"], zone["hostname"]["used"], zone["hostname"]["skew"]) == (3, 2, 1)


def test_throughput_counts_by_step(told: Run) -> None:
    assert [row["bound"] for row in rows(told, "throughput")] == [1, 1, 1, 1]
    assert [row["ended"] for row in rows(told, "throughput")] == [0, 0, 0, 2]
    assert summary(told, "throughput") == {"throughput": 1.0}


@pytest.fixture
def continued() -> Run:
    """A cluster with a pod on n1, one that has ended and one that waits, to which the run adds one."""
    story = Story()
    for name in ("n1", "n2"):
        story.tell(1, 0, "write", node(name, "a", "1"), "snapshot")
    story.tell(1, 0, "write", pod("old", "1", "n1"), "snapshot")
    story.tell(1, 0, "write", pod("over", "1", "n1", phase="Succeeded"), "snapshot")
    story.tell(1, 0, "write", pod("late", "1"), "snapshot")
    story.tell(1, 0, "create", pod("new", "1"))
    story.tell(1, 1, "patch", pod("new", "1", "n2"), "scheduler")
    story.tell(2, 1, "patch", pod("late", "1", "n2"), "scheduler")
    story.tell(2, 1, "delete", pod("old", "1", "n1"), "scheduler")
    return told_run(story)


def test_what_a_snapshot_brought_is_no_work_of_the_run(continued: Run) -> None:
    first, second = rows(continued, "throughput")
    assert first == {"step": 1, "created": 1, "bound": 1, "ended": 0, "preempted": 0}
    assert second == {"step": 2, "created": 0, "bound": 1, "ended": 1, "preempted": 1}


def test_pods_that_came_with_their_node_did_not_wait(continued: Run) -> None:
    by_name = {row["pod"]: row for row in rows(continued, "pods")}
    old = by_name["default/old"]
    assert (old["created"], old["bound"], old["node"], old["waited_steps"]) == (1, 1, "n1", None)
    assert by_name["default/late"]["waited_steps"] == 1
    steps, _ = rows(continued, "waiting")
    assert (steps["p50"], steps["p90"]) == (0, 1)  # new and late


def test_what_a_snapshot_brought_is_allocated(continued: Run) -> None:
    (first,) = rows(continued, "allocation", resource="cpu", step=1)
    assert first["requested"] == 2000  # old and new
    assert headline(continued)[0]["hint"] == "of 4 (3 from the snapshot)"


def test_scheduler_work_counts_attempts_and_visits(told: Run) -> None:
    assert [(row["attempts"], row["visited"]) for row in rows(told, "scheduler_work")] == [
        (1, 2),
        (2, 4),
        (1, 3),
        (2, 6),
    ]
    assert summary(told, "scheduler_work") == {"attempts": 6.0, "nodes_visited": 15.0}


def test_the_nodes_of_a_node_pool_are_a_group() -> None:
    story = Story()
    bought = node("n1", "a", "2")
    bought["metadata"]["labels"]["karpenter.sh/nodepool"] = "default"
    story.tell(1, 0, "create", node("n0", "a", "1"))
    story.tell(2, 0, "create", bought)
    story.tell(4, 0, "create", pod("p", "1"))
    found = all_measures()["node_groups"].compute(told_run(story)).to_dicts()
    assert [(row["group"], row["added"], row["cost"]) for row in found] == [("", 0, 3.0), ("default", 1, 4.0)]


@pytest.mark.parametrize(
    ("labels", "price"),
    [
        ({"seatrial.dev/price-per-hour": "0.5", "eks-node-viewer/instance-price": "0.7"}, 0.5),
        ({"eks-node-viewer/instance-price": "0.076800"}, 0.0768),
        ({"seatrial.dev/price-per-hour": "much"}, None),
        ({}, None),
    ],
)
def test_the_price_of_a_node_is_our_label_or_that_of_karpenter(labels: dict[str, str], price: float | None) -> None:
    assert price_of(labels) == price


def test_cost_is_the_price_of_nodes_over_time(told: Run) -> None:
    table = rows(told, "cost")
    assert [row["price_per_hour"] for row in table] == [2.0, 2.0, 3.5, 3.5]
    assert [row["used_nodes"] for row in table] == [1, 1, 2, 2]
    assert table[-1]["cost"] == pytest.approx(2.0 + 2.0 + 2 * 3.5)  # an hour a step, and step 4 is skipped


def test_every_measure_says_what_it_is() -> None:
    for measure in all_measures().values():
        assert len(measure.definition) > 20, measure.name


def test_an_unknown_measure_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="'speed' is not known; known are allocation"):
        find_measures(["speed"])


def test_a_measure_that_needs_the_timeline_says_so() -> None:
    plain = Run("plain", b'{"kind": "Scenario", "metadata": {"name": "x"}}')
    with pytest.raises(ConfigError, match=r"volcano_jobs: needs status writes and times \(there is no timeline"):
        all_measures()["volcano_jobs"].compute(plain)
