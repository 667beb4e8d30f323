"""The cluster as it is, as the first side of a comparison; figures counted from the dump."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from seatrial.cli.main import build
from seatrial.model.errors import ConfigError
from seatrial.store.snapshots import Snapshot, read_prices
from seatrial.store.snapshots.prices import PRICE, Prices
from tests.docs.test_commands import ROOT
from tests.whatif.dump import NODEGROUP, NODEPOOL, cluster_dump
from tests.whatif.playing import items

MOST = str(ROOT / "examples" / "node-saving" / "scheduler.most.yaml")
PRICES = """
currency: EUR
prices:
- {instanceType: m6i.2xlarge, pricePerHour: 0.5}
- {instanceType: m6i.2xlarge, capacityType: on-demand, zone: eu-a, pricePerHour: 0.75}
- {instanceType: c6i.xlarge, capacityType: spot, pricePerHour: 0.07}
- {instanceType: g5.12xlarge, capacityType: ON_DEMAND, pricePerHour: 5.5}
"""


def compared(folder: Path, *words: str) -> Any:
    done = CliRunner().invoke(
        build("compare"), ["compare", *words, "-f", "json", "--out", str(folder)], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """now, and the workloads placed again by MostAllocated, with prices of three of four pools."""
    folder = tmp_path_factory.mktemp("now")
    (folder / "cluster.json").write_bytes(cluster_dump())
    (folder / "prices.yaml").write_text(PRICES)
    words = ("--snapshot", str(folder / "cluster.json"), "--unbind", "workloads", "--scheduler-config", MOST)
    return compared(folder, *words, "--prices", str(folder / "prices.yaml")), compared(folder, *words, "--no-now",
           "--scheduler-config", "default")  # fmt: skip


def value(found: Any, name: str, place: int) -> Any:
    (number,) = [each for each in found["measures"] if each["name"] == name]
    return number["values"][place]


def used_today() -> set[str]:
    return {
        pod["spec"]["nodeName"] for pod in items(cluster_dump(), "Pod")
        if not any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences", []))
    }  # fmt: skip


def test_now_has_the_figures_of_the_dump(found: Any) -> None:
    with_now, _ = found
    assert with_now["runs"] == ["now", "scheduler.most"]
    assert value(with_now, "nodes_used", 0) == len(used_today())
    assert value(with_now, "pods_bound", 0) == len(items(cluster_dump(), "Pod"))


def test_the_verdict_is_against_today(found: Any) -> None:
    with_now, without = found
    today, then = len(used_today()), int(value(with_now, "nodes_used", 1))
    assert f"{today - then} fewer nodes in use than today: {today} → {then}" in with_now["verdict"][0]
    assert value(without, "nodes_used", 0) == then, "the same run without now"
    assert without["runs"] == ["scheduler.most", "default"]


def test_work_is_not_compared_with_a_side_that_did_none(found: Any) -> None:
    with_now, _ = found
    for name in ("attempts", "throughput", "waiting_p50", "pending_integral", "preemptions"):
        assert value(with_now, name, 0) is None
        assert value(with_now, name, 1) is not None


def test_the_nodes_that_could_be_switched_off_are_those_without_pods(found: Any) -> None:
    with_now, _ = found
    nodes = {item["metadata"]["name"]: item["metadata"]["labels"] for item in items(cluster_dump(), "Node")}
    pools = {each["pool"]: each for each in with_now["switchedOff"]["scheduler.most"]}
    listed = {name for each in pools.values() for name in each["nodes"]}
    assert len(listed) == len(nodes) - value(with_now, "nodes_used", 1)
    moved = {each["pod"]: each["nodes"][1] for each in with_now["differences"]}
    homes = set()
    for pod in items(cluster_dump(), "Pod"):
        if not any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences", [])):
            key = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
            homes.add(moved.get(key, pod["spec"]["nodeName"]))
    assert listed == set(nodes) - homes
    idle = Counter(labels.get(NODEPOOL) or labels.get(NODEGROUP) for name, labels in nodes.items()
                   if name not in used_today())  # fmt: skip
    assert {pool: each["today"] for pool, each in pools.items()} == {pool: idle[pool] for pool in pools}
    general = pools["general"]
    zones = Counter(nodes[name]["topology.kubernetes.io/zone"] for name in general["nodes"])
    assert general["pricePerHour"] == pytest.approx(0.75 * zones["eu-a"] + 0.5 * (zones["eu-b"] + zones["eu-c"]))
    assert general["cpu"] == 8 * len(general["nodes"])
    assert general["memory"] == 32 * 2**30 * len(general["nodes"])
    assert pools["gpu"]["gpus"] == 4 * len(pools["gpu"]["nodes"])
    assert pools["memory"]["pricePerHour"] is None, "an unknown price is unknown, and not 0"
    assert value(with_now, "used_price_per_hour", 0) is None


def test_the_label_of_a_node_counts_more_than_the_file(tmp_path: Path) -> None:
    prices = Prices([])
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "labels": {PRICE: "3"}}}
    assert list(Snapshot([node]).with_prices(prices)) == [node]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("prices: [{instanceType: a, pricePerHour: 3 EUR}]", "Expected `float`, got `str`"),
        ("prices: [{instanceType: a, pricePerDay: 3}]", "unknown field `pricePerDay`"),
        ("prices: [{instanceType: a, pricePerHour: -3}]", "a: -3.0 is negative"),
        ("- 1", "Expected `object`, got `array`"),
    ],
)
def test_a_file_of_prices_that_cannot_be_used_is_one_sentence_with_the_cure(
    tmp_path: Path, text: str, why: str
) -> None:
    (tmp_path / "prices.yaml").write_text(text)
    with pytest.raises(ConfigError, match=why) as raised:
        read_prices(tmp_path / "prices.yaml")
    assert "expected `prices: [{instanceType: m5.large, pricePerHour: 0.107}]`" in str(raised.value)
