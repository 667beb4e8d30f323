"""Every example is run, twice (or ten times) in surroundings that differ, and says what its first lines promise."""

import filecmp
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from seatrial import Result
from seatrial.results.measure import all_measures
from seatrial.scenario.spec.decoding import read_scenario
from seatrial.scenario.spec.dialect import dialect_of
from seatrial.scenario.spec.plan import expand_and_number
from tests.examples.run_all import EXAMPLES, LARGE, configurations, names, simulation
from tests.proofs import proves

ROOT = EXAMPLES.parent
PLACES = (str(ROOT), "/", str(EXAMPLES), "/tmp")
ZONES = ("UTC", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati")
LANGUAGES = ("C", "de_DE.UTF-8", "tr_TR.UTF-8", "C.UTF-8", "ja_JP.eucJP")
RUNS, MANY_RUNS = 2, 10
TOGETHER = 2
"""Processes at a time."""


def run_in_surroundings(number: int, folder: Path, chosen: Iterable[str] = ()) -> None:
    """Run the examples in a process whose hash seed, time zone, language and working directory are its own."""
    environment = {
        **os.environ,
        "PYTHONHASHSEED": str(1 + 76 * number),
        "TZ": ZONES[number % len(ZONES)],
        "LANG": LANGUAGES[number % len(LANGUAGES)],
        "LC_ALL": LANGUAGES[number % len(LANGUAGES)],
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
    }
    command = [sys.executable, "-m", "tests.examples.run_all", str(folder), *chosen]
    place = PLACES[number % len(PLACES)]
    subprocess.run(command, cwd=place, env=environment, stdout=subprocess.DEVNULL, timeout=300, check=True)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The results of all examples from two processes that run side by side."""
    folders = [tmp_path_factory.mktemp("examples") for _ in range(RUNS)]
    with ThreadPoolExecutor(TOGETHER) as pool:
        list(pool.map(run_in_surroundings, range(RUNS), folders))
    yield folders[0], folders[1]


def result(results: tuple[Path, Path], name: str) -> Result:
    return Result.load(results[0] / name)


@proves("V1-082", "V2-047")
def test_results_are_the_same_bytes_in_all_surroundings(results: tuple[Path, Path]) -> None:
    """Hash seed, time zone, language and working directory make no difference."""
    made = sorted(path.name for path in results[0].iterdir())
    assert made == sorted(path.name for path in results[1].iterdir())
    assert {name.split(".")[0] for name in made} == set(names()) - LARGE
    for name in made:
        assert filecmp.cmp(results[0] / name / "result.json", results[1] / name / "result.json", shallow=False), name


@proves("V1-082", "V2-047")
@pytest.mark.long
def test_ten_runs_of_all_examples_are_the_same_bytes(tmp_path: Path) -> None:
    """The large ones, too."""

    def digests(number: int) -> dict[str, str]:
        folder = tmp_path / str(number)
        run_in_surroundings(number, folder, names())
        found = {path.parent.name: sha256(path.read_bytes()).hexdigest() for path in folder.glob("*/result.json")}
        shutil.rmtree(folder)
        return found

    with ThreadPoolExecutor(TOGETHER) as pool:
        first, *others = pool.map(digests, range(MANY_RUNS))
    assert {name.split(".")[0] for name in first} == set(names())
    assert others == [first] * (MANY_RUNS - 1)


@pytest.mark.parametrize("order", [sorted, lambda document: reversed(list(document))], ids=["sorted", "reversed"])
@pytest.mark.parametrize("name", [name for name in names() if name not in LARGE])
def test_the_order_of_fields_makes_no_difference(name: str, order: Callable[[Any], Iterable[str]]) -> None:
    """Clients send them as they like: kubectl sorts them."""
    document = read_scenario(EXAMPLES / name / "scenario.yaml")
    head, operations = expand_and_number(document, EXAMPLES / name)
    listed = [planned.document() for planned in operations]
    scenario = {**head, "spec": {**head["spec"], dialect_of(document["spec"]).listing: listed}}
    for config in configurations(name):
        turned = simulation(name, config, _ordered(scenario, order)).run().scenario
        assert turned == simulation(name, config, scenario).run().scenario


def _ordered(value: Any, order: Callable[[Any], Iterable[str]]) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(value[key], order) for key in order(value)}
    return [_ordered(item, order) for item in value] if isinstance(value, list) else value


@proves("V1-002", "V2-045")
def test_first_steps_in_both_spellings(results: tuple[Path, Path]) -> None:
    first, second = result(results, "first-steps"), result(results, "first-steps-events")
    assert first.phase == second.phase == "Succeeded"
    assert dict(first.pods.select("name", "node").iter_rows()) == {"small": "node-1", "big": None}
    assert dict(second.pods.select("name", "deleted").iter_rows()) == {"small": 4, "late": None}


@proves("V2-001")
def test_the_autoscaler_grows_and_shrinks_its_groups(results: tuple[Path, Path]) -> None:
    found = result(results, "autoscaler")
    assert found.phase == "Succeeded"
    groups = all_measures()["node_groups"].compute(found.run).to_dicts()
    assert [(row["group"], row["added"], row["removed"], row["most"]) for row in groups] == [
        ("gpu", 1, 1, 1),
        ("small", 3, 2, 3),
    ]
    assert groups[0]["cost"] == pytest.approx(0.5 * 2.5)


def test_the_autoscaler_takes_over_the_nodes_of_a_snapshot(results: tuple[Path, Path]) -> None:
    run = result(results, "autoscaler-cluster").run
    groups = all_measures()["node_groups"].compute(run).to_dicts()
    assert [(row["group"], row["added"], row["removed"]) for row in groups] == [("", 0, 3), ("large", 2, 1)]
    assert groups[1]["cost"] == pytest.approx(groups[1]["node_hours"] * 0.7)


@proves("V2-061")
def test_the_node_set_makes_all_nodes_before_anything_is_scheduled(results: tuple[Path, Path]) -> None:
    found = result(results, "nodeset")
    assert len(found.nodes) == 200
    spread = found.pods.group_by("node").len()
    assert len(spread) == 50


def test_a_rolling_update_ends_with_new_pods_alone(results: tuple[Path, Path]) -> None:
    found = result(results, "rolling-update")
    assert found.phase == "Succeeded"
    web = found.pods.filter(pl.col("name").str.starts_with("web-"))
    assert len(web) == 24
    assert web.filter(pl.col("deleted").is_null())["node"].is_not_null().sum() == 12


@proves("V1-110")
def test_one_configuration_spreads_and_the_other_packs(results: tuple[Path, Path]) -> None:
    """Two schedulers, one scenario, and the difference in numbers."""
    used = [
        result(results, f"spread-or-binpack.scheduler.{kind}").nodes.filter(pl.col("pods") > 0).height
        for kind in ("spread", "binpack")
    ]
    assert used == [10, 4]


def test_the_storm_preempts(results: tuple[Path, Path]) -> None:
    found = result(results, "preemption-storm")
    high = found.pods.filter(pl.col("name").str.starts_with("high-"))
    assert high["node"].is_not_null().all()
    assert [entry for entry in found.events() if "podPreempted" in entry]


@proves("V1-111", "V2-004")
def test_the_worst_case_is_added_while_paused(results: tuple[Path, Path]) -> None:
    found = result(results, "worst-case")
    assert found.phase == "Succeeded"
    assert found.explain("worst").attempts[-1].outcome == "unschedulable"


def test_a_plugin_of_ones_own_keeps_pods_off_noisy_nodes(results: tuple[Path, Path]) -> None:
    found = result(results, "custom-plugin.scheduler")
    assert found.pods["node"].str.starts_with("quiet-").all()
    assert "QuietNodes" in found.explain("pod-00").attempts[0].filter["noisy-0"]


def test_jobs_run_as_long_as_the_table_says(results: tuple[Path, Path]) -> None:
    found = result(results, "job-durations")
    assert found.pods["phase"].to_list() == ["Succeeded"] * 5


def test_volcano_says_why_jobs_wait(results: tuple[Path, Path]) -> None:
    def message(name: str) -> str:
        return str(result(results, name).scenario["status"]["message"])

    assert "is not let in by plugin overcommit" in message("volcano-idle-but-pending")
    assert "fits on no node: 4 Insufficient cpu" in message("volcano-fragmentation")
    assert "job default/large of queue" in message("volcano-small-jobs-first")


def test_volcano_gives_a_queue_its_share_back(results: tuple[Path, Path]) -> None:
    found = result(results, "volcano-reclaim")
    urgent = found.pods.filter(pl.col("name").str.starts_with("urgent-"))
    assert urgent["node"].is_not_null().all()
    assert len([entry for entry in found.events() if "podPreempted" in entry]) == 3
