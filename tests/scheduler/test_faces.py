"""The faces of the scheduler offer few names."""

from importlib import import_module

import pytest

FACES = ["", *(f".{name}" for name in (
    "cache", "config", "evaluator", "extender", "framework", "plugins", "preemption", "schedule_one"
))]  # fmt: skip


@pytest.mark.parametrize("face", FACES)
def test_a_face_exports_at_most_15_names(face: str) -> None:
    assert len(import_module(f"seatrial.scheduler{face}").__all__) <= 15


def test_a_face_refuses_other_names() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = import_module("seatrial.scheduler").Nothing
