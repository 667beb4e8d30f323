"""Reads a few fields of an encoded object without decoding the rest."""

from collections.abc import Callable, Collection, Iterable, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from seatrial.model.documents import Document, encode
from seatrial.store import StatusView, Stored, View

Path = tuple[str, ...]
Values = tuple[bytes, ...]
ABSENT = b""
STATUS = "status"
NODE = ("spec", "nodeName")
_NOTHING = msgspec.Raw(ABSENT)


class Seen:
    """An object that is matched against stages; it is decoded only when more than a few fields are read."""

    __slots__ = ("_document", "stored")

    def __init__(self, stored: Stored) -> None:
        self.stored = stored
        self._document: Document | None = None

    @property
    def document(self) -> Document:
        if self._document is None:
            self._document = self.stored.document()
        return self._document


class Fields:
    """Reads the values at some paths, each as it is encoded."""

    def __init__(self, paths: Iterable[Path]) -> None:
        given = _outermost(paths)
        outside = tuple(path for path in given if path[0] != STATUS and path != NODE)
        inside = tuple(path for path in given if path[0] == STATUS)
        self._has_node = NODE in given
        self.paths = outside + (NODE,) * self._has_node + inside
        self._outside = View(*_read_as(outside))
        self._inside = StatusView(*_read_as([path[1:] for path in inside])) if inside != ((STATUS,),) else None

    def are_shared(self, presences: Collection[int]) -> bool:
        """Whether the values follow from `outside` and the status; at `presences` it is enough that there is one."""
        return not self._has_node or self.paths.index(NODE) in presences

    def outside(self, stored: Stored) -> Values | None:
        """The values outside of the status, but for that of nodeName; None where a parent is not an object."""
        try:
            return self._outside.read(stored)
        except msgspec.ValidationError:
            return None

    def read(self, stored: Stored) -> Values | None:
        """The values in the order of `paths`, ABSENT for a missing one; None if a parent is not an object."""
        try:
            found = self._outside.read(stored)
            if self._has_node:
                node = stored.node_name
                found = (*found, encode(node) if node else ABSENT)
            return found + (self._inside.read(stored) if self._inside is not None else (stored.encoded_status,))
        except msgspec.ValidationError:
            return None


def _read_as(paths: Sequence[Path]) -> tuple[Any, Callable[[Any], Values]]:
    """A type that has just these paths, and a function that takes their values from it."""
    # msgspec keeps what it reads under names that are identifiers: the place of each name in its parent.
    shape, places = _shape(paths)
    if not paths:
        return shape, lambda seen: ()
    get = attrgetter(*(places[path] for path in paths))
    if len(paths) == 1:
        return shape, lambda seen: (bytes(get(seen)),)
    return shape, lambda seen: tuple(map(bytes, get(seen)))


def _outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The paths that do not lie inside another one."""
    given = dict.fromkeys(paths)
    return tuple(path for path in given if not any(path[:length] in given for length in range(1, len(path))))


def _shape(paths: Iterable[Path]) -> tuple[Any, dict[Path, str]]:
    """A type that has just these paths, and where in it each of them is found."""
    below: dict[str, list[Path]] = {}
    for path in paths:
        below.setdefault(path[0], []).append(path[1:])
    fields: list[Any] = []
    places: dict[Path, str] = {}
    for number, (name, rest) in enumerate(below.items()):
        place = f"at{number}"
        if rest == [()]:
            fields.append((place, msgspec.Raw, msgspec.field(default=_NOTHING, name=name)))
            places[name,] = place
        else:
            inner, inner_places = _shape(rest)
            fields.append((place, inner, msgspec.field(default_factory=inner, name=name)))
            places |= {(name, *path): f"{place}.{found}" for path, found in inner_places.items()}
    return msgspec.defstruct("Part", fields), places
