"""The cluster as it is, as the first side of a comparison; figures counted from the dump."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import jq
import pytest
from typer.testing import CliRunner

from seatrial.cli.main import build
from seatrial.model.errors import ConfigError
from seatrial.results import Run, find_measures
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


BY_JQ = """
def pods: .items[] | select(.kind == "Pod");
def own: pods | select(.metadata.ownerReferences // [] | all(.kind != "DaemonSet"));
def cpu: if endswith("m") then rtrimstr("m") | tonumber else tonumber * 1000 end;
def memory: if endswith("Gi") then (rtrimstr("Gi") | tonumber) * 1024 else rtrimstr("Mi") | tonumber end;
def nodes: .items[] | select(.kind == "Node") | .status.allocatable;
def requests: pods | .spec.containers[].resources.requests;
def share($asked; $room): 100 * ($asked | add) / ($room | add);
{
  nodes_used: [own | .spec.nodeName] | unique | length,
  pods_bound: [pods | select(.spec.nodeName)] | length,
  workloads_not_ready:
    [.items[] | select((.kind == "Deployment" or .kind == "StatefulSet") and .status.readyReplicas != .spec.replicas)]
    | length,
  allocation_cpu: share([requests.cpu | cpu]; [nodes.cpu | cpu]),
  allocation_memory: share([requests.memory | memory]; [nodes.memory | memory]),
  "allocation_nvidia.com/gpu":
    share([requests."nvidia.com/gpu" // "0" | tonumber]; [nodes."nvidia.com/gpu" // "0" | tonumber]),
  allocation_pods: share([pods | 1]; [nodes.pods | tonumber]),
  used: [own | .spec.nodeName] | unique
}
"""


def counted_by_jq() -> Any:
    return jq.compile(BY_JQ).input_text(cluster_dump().decode()).first()


def used_today() -> set[str]:
    return set(counted_by_jq()["used"])


def test_now_has_the_figures_that_jq_counts_in_the_dump(found: Any) -> None:
    with_now, _ = found
    assert with_now["runs"] == ["now", "scheduler.most"]
    counted = counted_by_jq()
    del counted["used"]
    assert {name: value(with_now, name, 0) for name in counted} == pytest.approx(counted)


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """The dump at rest, and its workloads placed again: two runs of their own."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "cluster.json").write_bytes(cluster_dump())
    begun = ("run", "--snapshot", str(folder / "cluster.json"), "--no-report", "-q")
    for name, more in (("rest", ()), ("most", ("--unbind", "workloads", "--scheduler-config", MOST))):
        done = CliRunner().invoke(build("run"), [*begun, *more, "--out", str(folder / name)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
    return Run.load(folder / "rest"), Run.load(folder / "most")


def test_a_comparison_with_now_is_the_difference_of_two_runs(found: Any, two_runs: tuple[Run, Run]) -> None:
    with_now, _ = found
    numbers = [{name: number for measure in find_measures([]) if not measure.lacking(run)
                for name, number in measure.summary(measure.compute(run)).items()} for run in two_runs]  # fmt: skip
    compared = {each["name"]: each for each in with_now["measures"]}
    assert set(compared) == set(numbers[1])
    for name, each in compared.items():
        rest, most = numbers[0].get(name), numbers[1][name]
        assert each["values"][1] == most, name
        if each["values"][0] is not None:
            assert rest is not None and most is not None
            assert each["values"][0] == rest, name
            assert each["deltas"] == [most - rest], name


def test_the_nodes_are_the_set_differences_of_two_runs(found: Any, two_runs: tuple[Run, Run]) -> None:
    with_now, _ = found
    daemons = {
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in items(cluster_dump(), "Pod")
        if any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences", []))
    }  # fmt: skip
    today, then = ({pod.node for pod in run.pods if pod.key not in daemons} for run in two_runs)
    every = {node["metadata"]["name"] for node in items(cluster_dump(), "Node")}
    pools = with_now["switchedOff"]["scheduler.most"]
    left, idle, needed = (
        {name for each in pools for name in each[part]} for part in ("nodes", "idleToday", "needed")
    )  # fmt: skip
    assert today == used_today()
    assert left == today - then
    assert needed == then - today
    assert idle == every - today - then
    assert left and needed, "a node in use today is left, and one that is idle today is taken"
    assert len(left) - len(needed) == value(with_now, "nodes_used", 0) - value(with_now, "nodes_used", 1)


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


def test_a_pool_that_is_left_has_its_room_and_its_price(found: Any) -> None:
    with_now, _ = found
    nodes = {item["metadata"]["name"]: item["metadata"]["labels"] for item in items(cluster_dump(), "Node")}
    pools = {each["pool"]: each for each in with_now["switchedOff"]["scheduler.most"]}
    for pool, each in pools.items():
        listed = (*each["nodes"], *each["idleToday"], *each["needed"])
        assert {nodes[name].get(NODEPOOL) or nodes[name].get(NODEGROUP) for name in listed} == {pool}
    general, spot = pools["general"], pools["spot"]
    zones = Counter(nodes[name]["topology.kubernetes.io/zone"] for name in general["nodes"])
    assert not general["needed"]
    assert general["pricePerHour"] == pytest.approx(0.75 * zones["eu-a"] + 0.5 * (zones["eu-b"] + zones["eu-c"]))
    assert general["cpu"] == 8 * len(general["nodes"])
    assert general["memory"] == 32 * 2**30 * len(general["nodes"])
    assert spot["needed"], "nodes that are idle today and needed then count against those that are left"
    assert spot["cpu"] == 4 * (len(spot["nodes"]) - len(spot["needed"]))
    assert spot["pricePerHour"] == pytest.approx(0.07 * (len(spot["nodes"]) - len(spot["needed"])))
    assert pools["gpu"]["gpus"] == 4 * len(pools["gpu"]["nodes"])
    assert pools["memory"]["pricePerHour"] is None, "an unknown price is unknown, and not 0"
    assert value(with_now, "used_price_per_hour", 0) is None


def test_every_workload_is_compared(found: Any) -> None:
    with_now, without = found
    program = """[.items[] | select(.kind | IN("Deployment", "StatefulSet", "DaemonSet", "Job"))] | length"""
    owned = {(each["namespace"], each["kind"], each["name"]): each for each in with_now["workloads"]}
    bare = [name for name in owned if name[1] == "Pod"]
    assert len(owned) - len(bare) == jq.compile(program).input_text(cluster_dump().decode()).first()
    assert owned["data", "StatefulSet", "orders"]["ready_end"] == [6, 6]
    assert owned["data", "StatefulSet", "orders"]["wanted"] == [6, 6]
    assert len(without["workloads"]) == len(owned), "a run from a snapshot has them without now, too"


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
