"""Volcano without its caches: the same bytes."""

import polars as pl
import pytest

import seatrial
from seatrial.scheduler.evaluator.shortcuts import NAMES, VARIABLE
from seatrial.volcano.config import load_conf
from tests.results.volcano.scenarios import job, node, queue, scenario

OF_VOLCANO = [name for name in NAMES if name.startswith("volcano_")]
CONF = """
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}]
- plugins: [{name: overcommit}, {name: drf, enablePreemptable: false}, {name: predicates}, {name: proportion},
            {name: nodeorder}, {name: binpack}]
"""


def outcome() -> tuple[bytes, pl.DataFrame]:
    """A run in which queues are reclaimed from, jobs wait, end and are let in."""
    greedy = [job(f"greedy-{i}", "a", pods=2, cpu="1", seconds=40) for i in range(6)]
    fair = [job(f"fair-{i}", "b", pods=3, cpu="1", seconds=30) for i in range(5)]
    steps = [[node("n1", "4"), node("n2", "6"), queue("a"), queue("b", weight=2)], greedy, fair, []]
    result = seatrial.run(scenario(*steps, step="20s"), volcano_config=load_conf(CONF))
    return result.run.whole_data(), result.timeline


@pytest.mark.parametrize("shortcuts", ["none", ",".join(OF_VOLCANO[:2]), ",".join(OF_VOLCANO[2:])])
def test_without_caches_a_run_has_the_same_bytes(shortcuts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "all")
    data, timeline = outcome()
    monkeypatch.setenv(VARIABLE, shortcuts)
    plain_data, plain_timeline = outcome()
    assert plain_data == data
    assert plain_timeline.equals(timeline)
    entries = timeline.filter(pl.col("kind") == "PodGroup")["entry"].unique()
    assert {"create", "status", "session"} <= set(entries)
