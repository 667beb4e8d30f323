"""Copies what a view decoded of one object with the values of another.

Objects of one template have the same fields, so the way to each value is found once (`filler`), and a copy then takes
one step for each part that lies on the way.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from seatrial.model.documents import decode, encode
from seatrial.store.objects import Path

MISSING: Final = object()
ABSENT: Final = object()
"""In the place of a value: the field is not in the document."""
Fill = Callable[[Any, Sequence[Any]], Any]
"""A copy of a part with these values; the part is never changed."""
_Tree = dict[str | int, Any]
"""The places of values, by the steps of their paths."""
_GAP = re.compile(rb'"\\u0000(\d+)\\u0000"')
"""A string that stands for a value in an encoded part."""


def at(part: Any, path: Path) -> Any:
    """The value at a path of what a view decoded; MISSING where the view does not show it."""
    for number, step in enumerate(path):
        if isinstance(part, msgspec.Raw):
            part = decode(bytes(part))
        if isinstance(part, msgspec.Struct):
            part = getattr(part, _attribute(part, step), MISSING)
        elif isinstance(part, dict):
            part = part.get(step, MISSING)
        elif isinstance(part, list | tuple) and isinstance(step, int) and step < len(part):
            part = part[step]
        else:
            return MISSING
        if part is MISSING or (part is None and number + 1 < len(path)):
            return MISSING
    return decode(bytes(part)) if isinstance(part, msgspec.Raw) and part else part


def filler(part: Any, places: Mapping[Path, int], *, is_only: bool = False) -> Fill:
    """Fills values into parts of this form; `places` tells which of the values belongs to each path.

    `is_only`: it is called with this very part, so that the bytes of what is kept encoded are cut at the values once.
    """
    tree: _Tree = {}
    for path, place in places.items():
        below = tree
        for step in path[:-1]:
            below = below.setdefault(step, {})
        below[path[-1]] = place
    return _filler(part, tree, is_only)


def _filler(part: Any, tree: _Tree, is_only: bool) -> Fill:
    if isinstance(part, msgspec.Raw):
        return _raw_filler(part, tree, is_only)
    if isinstance(part, msgspec.Struct):
        return _struct_filler(part, tree, is_only)
    leaves = [(step, place) for step, place in tree.items() if not isinstance(place, dict)]
    branches = [(step, _filler(part[step], below, is_only)) for step, below in tree.items() if isinstance(below, dict)]
    is_tuple = isinstance(part, tuple)

    def fill(part: Any, values: Sequence[Any]) -> Any:
        copied: Any = part.copy() if not is_tuple else list(part)
        for step, place in leaves:
            value = values[place]
            if value is ABSENT:
                copied.pop(step, None)
            else:
                copied[step] = value
        for step, below in branches:
            copied[step] = below(copied[step], values)
        return tuple(copied) if is_tuple else copied

    return fill


def _raw_filler(part: msgspec.Raw, tree: _Tree, is_only: bool) -> Fill:
    inner = _filler(decode(bytes(part)), tree, False)

    def fill_decoded(part: Any, values: Sequence[Any]) -> Any:
        return msgspec.Raw(encode(inner(decode(bytes(part)), values)))

    places = sorted(_places(tree))
    markers: list[Any] = [None] * (places[-1] + 1)
    for place in places:
        markers[place] = f"\0{place}\0"
    pieces = _GAP.split(encode(inner(decode(bytes(part)), markers)).replace(b"%", b"%%"))
    pattern, order = b"%b".join(pieces[::2]), [int(place) for place in pieces[1::2]]
    if not is_only or sorted(order) != places:
        return fill_decoded  # a text looks like a marker
    return lambda part, values: msgspec.Raw(pattern % tuple([encode(values[place]) for place in order]))


def _places(tree: _Tree) -> list[int]:
    return [place for below in tree.values() for place in (_places(below) if isinstance(below, dict) else [below])]


def _struct_filler(part: msgspec.Struct, tree: _Tree, is_only: bool) -> Fill:
    replace = msgspec.structs.replace
    leaves: list[tuple[str, int, Callable[[], Any], bool]] = []
    branches: list[tuple[str, Fill]] = []
    for step, below in tree.items():
        name = _attribute(part, step)
        present = getattr(part, name)
        if isinstance(below, dict):
            branches.append((name, _filler(present, below, is_only)))
        else:
            leaves.append((name, below, _default(part, name), isinstance(present, msgspec.Raw)))
    if len(branches) == 1 and not leaves:
        only, fill_only = branches[0]
        return lambda part, values: replace(part, **{only: fill_only(getattr(part, only), values)})

    def fill(part: Any, values: Sequence[Any]) -> Any:
        changes: dict[str, Any] = {}
        for name, place, default, is_encoded in leaves:
            value = values[place]
            if value is ABSENT:
                value = default()
            if is_encoded and not isinstance(value, msgspec.Raw):
                value = msgspec.Raw(encode(value))
            changes[name] = value
        for name, below in branches:
            changes[name] = below(getattr(part, name), values)
        return replace(part, **changes)

    return fill


def _default(part: msgspec.Struct, name: str) -> Callable[[], Any]:
    """Makes the value of a field that a document does not have."""
    field = next(field for field in msgspec.structs.fields(part) if field.name == name)
    return field.default_factory if field.default is msgspec.NODEFAULT else lambda: field.default


def _attribute(part: msgspec.Struct, step: str | int) -> str:
    """The attribute that a field of a document is read into; empty where it is not read."""
    names = part.__struct_encode_fields__
    return part.__struct_fields__[names.index(str(step))] if step in names else ""
