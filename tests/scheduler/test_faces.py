"""The faces of the scheduler: every exported name exists, and there are few."""

from importlib import import_module

import pytest

FACES = ["", *(f".{name}" for name in (
    "cache", "config", "evaluator", "extender", "framework", "plugins", "preemption", "queue", "schedule_one"
))]  # fmt: skip


@pytest.mark.parametrize("face", FACES)
def test_a_face_exports_at_most_15_names_that_exist(face: str) -> None:
    module = import_module(f"seatrial.scheduler{face}")
    assert len(module.__all__) <= 15
    assert [name for name in module.__all__ if getattr(module, name, None) is None] == []


def test_a_face_refuses_other_names() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = import_module("seatrial.scheduler").Nothing
