"""Paths to the field that an axis varies."""

from typing import Any

import pytest

from seatrial.sweeps.field_path import assigned, parse_path

ITEMS = {"items": [{"name": "a", "n": 1}, {"name": "b", "n": 2}]}


@pytest.mark.parametrize(
    ("path", "document", "expected"),
    [
        ("a.b", {"a": {"b": 1, "c": 2}}, {"a": {"b": 9, "c": 2}}),
        ("a.b", {}, {"a": {"b": 9}}),
        ("items[1].n", ITEMS, {"items": [{"name": "a", "n": 1}, {"name": "b", "n": 9}]}),
        ("items[name=a].n", ITEMS, {"items": [{"name": "a", "n": 9}, {"name": "b", "n": 2}]}),
        ("items[name=c].n", {}, {"items": [{"name": "c", "n": 9}]}),
        ("items[0]", {"items": [1, 2]}, {"items": [9, 2]}),
    ],
)
def test_a_field_is_set_in_a_copy(path: str, document: Any, expected: Any) -> None:
    before = repr(document)
    assert assigned(document, parse_path(path), 9) == expected
    assert repr(document) == before


@pytest.mark.parametrize("text", ["", ".a", "a..b", "a[", "[0].a", "a[b]", "a]"])
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a path"):
        parse_path(text)


@pytest.mark.parametrize(("path", "document"), [("a.b", {"a": [1]}), ("a[0]", {"a": {}}), ("a[2]", {"a": [1]})])
def test_a_path_through_something_else_is_refused(path: str, document: Any) -> None:
    with pytest.raises(ValueError):
        assigned(document, parse_path(path), 9)
