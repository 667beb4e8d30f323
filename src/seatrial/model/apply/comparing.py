"""Compares two values of one shape: the fields that were added, modified and removed.

Follows sigs.k8s.io/structured-merge-diff/v6/typed/compare.go. Equal parts are passed over at once, so that the price of
a small change to a large object is small.
"""

from dataclasses import dataclass, field
from typing import Any

from seatrial.model.apply import fieldsets
from seatrial.model.apply.fieldsets import FieldSet, Path
from seatrial.model.apply.shapes import ListShape, MapShape, Shape
from seatrial.model.apply.typed import ABSENT, element_of, forms


@dataclass
class Comparison:
    """No path is in more than one of the three."""

    added: FieldSet = field(default_factory=dict)
    modified: FieldSet = field(default_factory=dict)
    removed: FieldSet = field(default_factory=dict)
    spelled_out: bool = False

    def restricted(self, keep: "Filter") -> "Comparison":
        return Comparison(keep(self.added), keep(self.modified), keep(self.removed))

    @property
    def changed(self) -> FieldSet:
        return fieldsets.union(self.modified, self.added)


class Filter:
    """The fields a request can own: all but some, or only some."""

    def __init__(self, reset: FieldSet | None = None, *, keep: FieldSet | None = None) -> None:
        self._reset, self._keep = reset, keep

    def __call__(self, fields: FieldSet) -> FieldSet:
        if self._keep is not None:
            return fieldsets.only(fields, self._keep)
        return fieldsets.without(fields, self._reset) if self._reset else fields


def compare(old: Any, new: Any, shape: Shape, *, spelled_out: bool = False) -> Comparison:
    """What a change from `old` to `new` added, modified and removed.

    In what is new, fields that are always there count as added, unless `new` is a configuration that is `spelled_out`.
    """
    comparison = Comparison(spelled_out=spelled_out)
    _compare(old, new, shape, (), comparison)
    return comparison


def _compare(old: Any, new: Any, shape: Shape, path: Path, into: Comparison) -> None:
    if old is not ABSENT and new is not ABSENT and _same(old, new):
        return
    old_form, new_form = forms(shape, old), forms(shape, new)
    if new is ABSENT:
        leaf = _compare_as(old_form, old, new, path, into)
    elif old is ABSENT or old is None or new is None or old_form == new_form:
        leaf = _compare_as(old_form if new is None else new_form, old, new, path, into)
    else:
        _compare_as(old_form, old, new, path, into)
        leaf = _compare_as(new_form, old, new, path, into)
    if not leaf and path:
        if old is ABSENT:
            fieldsets.insert(into.added, path)
        elif new is ABSENT:
            fieldsets.insert(into.removed, path)


def _compare_as(
    form: tuple[str, ListShape | MapShape | None], old: Any, new: Any, path: Path, into: Comparison
) -> bool:
    """Compare in one form; True where the whole value counts as one leaf."""
    part = form[1]
    if isinstance(part, MapShape) and not part.atomic:
        before, after = _as_map(old), _as_map(new)
        if before or after or _appears(part, old, new):
            _compare_maps(part, before, after, old, new, path, into)
            return False
    elif isinstance(part, ListShape) and not part.atomic:
        olds, news = _as_list(old), _as_list(new)
        if olds or news:
            _compare_lists(part, olds, news, path, into)
            return False
    _compare_leaf(old, new, path, into)
    return True


def _compare_leaf(old: Any, new: Any, path: Path, into: Comparison) -> None:
    if not path:
        return
    if old is ABSENT:
        fieldsets.insert(into.added, path)
    elif new is ABSENT:
        fieldsets.insert(into.removed, path)
    elif not _same(old, new):
        fieldsets.insert(into.modified, path)


def _compare_maps(
    shape: MapShape, before: dict[str, Any], after: dict[str, Any], old: Any, new: Any, path: Path, into: Comparison
) -> None:
    names = before if before.keys() == after.keys() else dict.fromkeys((*before, *after))
    for name in names:
        left, right = before.get(name, ABSENT), after.get(name, ABSENT)
        if left is not ABSENT and right is not ABSENT and _same(left, right):
            continue
        child = shape.child(name)
        if child is None:
            continue
        if name in shape.always:
            left = shape.always[name] if left is ABSENT and old is not ABSENT else left
            right = shape.always[name] if right is ABSENT and new is not ABSENT else right
        _compare(left, right, child, (*path, fieldsets.field(name)), into)
    if new is ABSENT or (old is ABSENT and not into.spelled_out):
        for name, empty in shape.always.items():
            child = shape.child(name)
            if name not in names and child is not None:
                left, right = (ABSENT, empty) if old is ABSENT else (empty, ABSENT)
                _compare(left, right, child, (*path, fieldsets.field(name)), into)


def _compare_lists(shape: ListShape, old: list[Any], new: list[Any], path: Path, into: Comparison) -> None:
    before, after = _by_element(shape, old), _by_element(shape, new)
    for element in dict.fromkeys((*before, *after)):
        olds, news = before.get(element, []), after.get(element, [])
        below = (*path, element)
        if len(olds) <= 1 and len(news) <= 1:
            _compare(olds[0] if olds else ABSENT, news[0] if news else ABSENT, shape.items, below, into)
        elif len(olds) >= 2 and len(news) >= 2:
            if not _same(olds, news):
                fieldsets.insert(into.modified, below)
        elif len(olds) >= 2:
            if news:
                _compare(ABSENT, news[0], shape.items, below, into)
            fieldsets.insert(into.removed, below)
        else:
            if olds:
                _compare(olds[0], ABSENT, shape.items, below, into)
            fieldsets.insert(into.added, below)


def _by_element(shape: ListShape, items: list[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for item in items:
        found.setdefault(element_of(shape, item), []).append(item)
    return found


def _appears(shape: MapShape, old: Any, new: Any) -> bool:
    """Whether one side is missing while the other, though empty, has fields that are always there."""
    return bool(shape.always) and (old is ABSENT) != (new is ABSENT)


def _as_map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _same(left: Any, right: Any) -> bool:
    """Equality of JSON values; a boolean is no number."""
    return bool(left == right) and (type(left) is type(right) or not isinstance(left, bool) | isinstance(right, bool))
