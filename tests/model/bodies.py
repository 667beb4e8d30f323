"""What the real API machinery made of bodies, recorded by tools/facts/record."""

import json
from pathlib import Path
from typing import Any

from seatrial.model.kinds import Kind

GOLDEN = Path(__file__).parents[1] / "golden"


def recorded_bodies(name: str) -> list[Any]:
    """Pairs of body and answer."""
    bodies = (GOLDEN / name / "bodies.jsonl").read_text().splitlines()
    answers = (GOLDEN / name / "answers.jsonl").read_text().splitlines()
    return [(json.loads(body), json.loads(answer)) for body, answer in zip(bodies, answers, strict=True)]


def kind_of(body: str) -> Kind:
    """The kind a body names; Pod where it names none."""
    document = json.loads(body)
    if not isinstance(document, dict) or not isinstance(document.get("apiVersion"), str):
        return Kind("", "v1", "Pod", "pods")
    group, _, version = document["apiVersion"].rpartition("/")
    return Kind(group, version, document["kind"], f"{document['kind'].lower()}s")


def without_nulls(value: Any) -> Any:
    """Go writes nil lists, maps and pointers as null where we leave them out."""
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value
