"""A Stage that makes no sense is refused before it is stored, and one that is stored already stops no start."""

from pathlib import Path

import pytest

from seatrial.control_plane.components import Settings, compose
from seatrial.controllers.stages.kind import STAGE
from seatrial.model.errors import Invalid
from seatrial.store.objects import Change, Stored


@pytest.mark.parametrize(
    "spec",
    [
        None,
        {},
        {"resourceRef": {"kind": ""}},
        {"resourceRef": "Pod"},
        {"resourceRef": {"kind": "Pod"}, "selector": {"matchExpressions": [{"key": "(((", "operator": "In"}]}},
        {"resourceRef": {"kind": "Pod"}, "next": {"finalizers": {"add": [{}]}}},
        {"resourceRef": {"kind": "Pod"}, "next": "x"},
        {"resourceRef": {"kind": "Pod"}, "weightFrom": {}},
        {"resourceRef": {"kind": "Pod"}, "weightFrom": {"expressionFrom": "((("}},
        {"resourceRef": {"kind": "Pod"}, "steps": [{"patch": {"type": "odd"}}]},
        {"resourceRef": {"kind": "Pod"}, "steps": [{"patch": {"template": "{{ if .x }}"}}]},
    ],
)
def test_a_stage_that_makes_no_sense_is_refused_and_not_stored(spec: object) -> None:
    store = compose(Settings()).store
    document = {"metadata": {"name": "x"}} | ({"spec": spec} if spec is not None else {})
    with pytest.raises(Invalid):
        store.create(STAGE, document, writer="test")
    assert store.list(STAGE) == []


def test_a_stage_that_is_stored_already_is_reported_and_stops_no_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    parts = compose(Settings(data_dir=tmp_path))
    assert parts.durability is not None
    bad = Stored(
        STAGE,
        "",
        "x",
        parts.store.revision + 1,
        b'{"metadata":{"name":"x","uid":"u","creationTimestamp":"2026-01-01T00:00:00Z"}}',
    )
    parts.durability.append(Change("ADDED", bad, None, "test", 0))
    parts.durability.close()
    again = compose(Settings(data_dir=tmp_path))
    assert again.durability is not None
    assert [stored.name for stored in again.store.list(STAGE)] == ["x"]
    assert "Stage x: spec.resourceRef.kind: is required; the Stage is ignored" in caplog.text
    again.store.delete(STAGE, "x", writer="test")
    again.durability.close()
