"""A sweep in this process: what is run, what is kept, and what is run again."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from seatrial.model.errors import ConfigError
from seatrial.sweeps.bundle import read_bundle
from seatrial.sweeps.dataset import Dataset
from seatrial.sweeps.points import points_of
from seatrial.sweeps.sweep import Sweep
from tests.sweeps.files import InlineEngine, axis, write_sweep

FIT = "profiles[0].pluginConfig[name=NodeResourcesFit].args.scoringStrategy.type"


def swept(folder: Path, retries: int = 1, **fields: Any) -> tuple[pl.DataFrame, list[int], Sweep]:
    """The table of a sweep, and which points were run for it."""
    path = write_sweep(folder, **fields)
    bundle = read_bundle(path)
    sweep = Sweep(bundle, points_of(bundle.spec), Dataset(folder), path)
    engine = InlineEngine(bundle)
    sweep.run(engine, sweep.missing(), retries, lambda: None)
    return sweep.finish()[0], engine.ran, sweep


def test_values_of_scenario_and_configuration_reach_the_run(tmp_path: Path) -> None:
    axes = [axis("nodes", [2, 4]), axis("fit", ["LeastAllocated", "MostAllocated"], config=FIT)]
    table, _, _ = swept(tmp_path, axes=axes)
    assert table["axis.nodes"].to_list() == [2, 2, 4, 4]
    assert table["nodes_used"].to_list() == [2, 1, 4, 1]
    assert pl.read_parquet(tmp_path / "sweep.parquet").equals(table)


def test_what_is_known_is_not_run_again_even_if_the_sweep_grows(tmp_path: Path) -> None:
    first, _, _ = swept(tmp_path, axes=[axis("nodes", [1, 2])])
    second, ran, _ = swept(tmp_path, axes=[axis("nodes", [3, 2, 1])])
    assert ran == [0]
    assert second.filter(pl.col("axis.nodes") < 3)["nodes_used"].to_list() == first["nodes_used"].to_list()[::-1]


def test_another_scenario_of_the_same_name_is_run_again(tmp_path: Path) -> None:
    swept(tmp_path, seeds=2)
    _, ran, _ = swept(tmp_path, seeds=2, tieBreak="name")
    assert ran == [0, 1]


def test_a_failed_point_is_tried_again_and_reported(tmp_path: Path) -> None:
    table, ran, _ = swept(tmp_path, axes=[axis("nodes", [1, -1])])
    assert ran == [0, 1, 1]
    assert table["phase"].to_list() == ["Succeeded", "Failed"]
    assert table["tries"].to_list() == [1, 2]
    assert "count" in table["message"][1]
    assert table["nodes_used"].to_list() == [1, None]
    _, again, _ = swept(tmp_path, retries=0, axes=[axis("nodes", [1, -1])])
    assert again == [1]


def test_a_front_is_of_medians_over_seeds(tmp_path: Path) -> None:
    objectives = ["nodes_used", {"number": "pods_bound", "better": "higher"}]
    _, _, sweep = swept(tmp_path, axes=[axis("nodes", [0, 1, 2])], seeds=3, objectives=objectives)
    (standing,) = sweep.finish()[1]
    assert [(each.labels, each.values, each.runs) for each in standing.front] == [((0,), (0, 0), 3), ((1,), (1, 4), 3)]


@pytest.mark.parametrize(
    ("objective", "why"), [("no_such", "is not a number of these runs"), ("pods_bound", "say what is better")]
)
def test_an_objective_that_cannot_be_used_is_refused_at_the_first_run(objective: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=why):
        swept(tmp_path, axes=[axis("nodes", [1, 2])], objectives=[objective])


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    swept(tmp_path)
    (part,) = (tmp_path / "outcomes").iterdir()
    part.write_bytes(b"not Parquet")
    with pytest.raises(ConfigError, match="part-000000"):
        swept(tmp_path)


def test_traces_are_read_from_the_bundle(tmp_path: Path) -> None:
    """A process on another machine has the bundle alone."""
    import yaml

    from tests.sweeps.files import scenario

    path = write_sweep(tmp_path)
    document = scenario()
    (pods,) = [each for each in document["spec"]["generators"] if each["id"] == "pod"]
    del pods["count"]
    pods["from"] = {"csv": "pods.csv"}
    (tmp_path / "scenario.yaml").write_text(yaml.safe_dump(document))
    (tmp_path / "pods.csv").write_text("cpu\n1\n1\n1\n")
    bundle = read_bundle(path)
    (tmp_path / "pods.csv").unlink()
    (outcome,) = InlineEngine(bundle).outcomes(points_of(bundle.spec))
    assert outcome.numbers["pods_bound"].value == 3
