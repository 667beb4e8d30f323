"""Lays a partial object over a whole one, by the structure of its kind and without owners.

Upstream: k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch/smd.go (ApplyStructuredMergeDiff; v1.36).
"""

from collections.abc import Iterator
from typing import Any

from seatrial.model.apply.merging import merge
from seatrial.model.apply.shapes import DEDUCED, Shape, shape_of
from seatrial.model.documents import Document
from seatrial.model.schema import Schema


class AtomicPart(Exception):
    """The partial object has a part that could only be replaced as a whole."""

    def __init__(self, paths: list[str]) -> None:
        super().__init__(f"may not mutate atomic arrays, maps or structs: {', '.join(paths)}")


def overlay(document: Document, partial: Document, schema: Schema | None) -> Document:
    """The document with the fields of the partial one; lists are merged by their keys."""
    shape = shape_of(schema) if schema is not None else DEDUCED
    paths = list(_atomic_parts(partial, shape, ""))
    if paths:
        raise AtomicPart(paths)
    merged: Document = merge(document, partial, shape)
    return merged


def _atomic_parts(value: Any, shape: Shape | None, path: str) -> Iterator[str]:
    if isinstance(value, dict) and shape is not None and shape.map is not None:
        if shape.map.atomic:
            yield path
        for name, child in value.items():
            if shape.map.declares(name):
                yield from _atomic_parts(child, shape.map.child(name), f"{path}.{name}")
    if isinstance(value, list) and shape is not None and shape.list is not None:
        if shape.list.atomic:
            yield path
            return
        for item in value:
            yield from _atomic_parts(item, shape.list.items, f"{path}[]")
