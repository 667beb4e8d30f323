"""Folder, `result.json` alone, served Scenario and standard input give the same measures, or say what is missing."""

import io
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.documents import encode
from seatrial.results.measure import all_measures
from seatrial.results.run import Run
from seatrial.results.tables import as_document
from seatrial.scenario.cluster import fresh_store
from seatrial.scenario.scenario_controller import ScenarioController
from seatrial.scenario.spec.kind import SCENARIO
from seatrial.scheduler import BothRecorders
from seatrial.timeline import Annotator
from tests.examples.run_all import LARGE, configurations, names, simulation

PLAYED = [
    pytest.param(name, config, marks=[pytest.mark.long] if name in LARGE else [])
    for name in names()
    for config in configurations(name)
]
Measures = dict[str, Any]


class NoWorkers:
    """Nothing runs in real time."""

    def suspend(self) -> None:
        """Nothing to suspend."""

    def resume(self) -> None:
        """Nothing to resume."""


def served(name: str, config: Path | None) -> bytes:
    """The Scenario of a server that has run an example, as `kubectl get scenario NAME -o json` prints it."""
    own = simulation(name, config).scenario_run
    store = fresh_store(Clock())
    annotator = Annotator(store)
    options = replace(own.options, recorder=lambda recorder: BothRecorders(recorder, annotator))
    controller = ScenarioController(store, NoWorkers(), lambda: options)
    controller.start()
    document = {**own.document, "spec": {**own.document["spec"]}}
    document["spec"][own.plan.dialect.listing] = [planned.document() for planned in own.listed]
    store.create(SCENARIO, document, writer="user:admin")
    while controller.has_work():
        controller.work()
    return encode(store.get(SCENARIO, own.document["metadata"]["name"]).document())


def told(source: Path | str) -> Measures:
    return as_document(Run.load(source), list(all_measures().values()))


@pytest.mark.parametrize(("name", "config"), PLAYED, ids=lambda value: getattr(value, "stem", value) or "default")
def test_every_input_gives_the_same_measures(
    name: str, config: Path | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, alone, from_server = tmp_path / "folder", tmp_path / "alone", tmp_path / "served.json"
    simulation(name, config).run().save(folder)
    alone.mkdir()
    shutil.copy(folder / "result.json", alone)
    from_server.write_bytes(served(name, config))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(from_server.read_bytes())))
    whole = told(folder)
    assert whole["missing"] == []
    inputs = {"result.json": told(alone), "served": told(from_server), "standard input": told("-")}
    for source, found in inputs.items():
        assert found["missing"] == inputs["result.json"]["missing"], source
        for measure in all_measures():
            assert_same_or_missing(measure, whole[measure], found[measure], found["missing"], source)


def assert_same_or_missing(
    measure: str, whole: Measures, found: Measures | None, missing: list[str], source: str
) -> None:
    if found is None:
        assert measure in missing, (source, measure)
        return
    lacking = {entry.partition(".")[2] for entry in missing if entry.startswith(f"{measure}.")}
    assert len(found["rows"]) == len(whole["rows"]), (source, measure)
    for ours, theirs in zip(found["rows"], whole["rows"], strict=True):
        for column, value in theirs.items():
            is_missing = ours[column] is None and (column in lacking or theirs.get("unit") in lacking)
            assert is_missing or ours[column] == value, (source, measure, column, ours, theirs)
    for number, value in whole["summary"].items():
        assert found["summary"][number] == value or (found["summary"][number] is None and lacking), (source, number)
