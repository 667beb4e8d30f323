"""Reads a few fields of an encoded object without decoding the rest."""

from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from seatrial.model.documents import Document, encode
from seatrial.store import Facets, Memo, Stored

Path = tuple[str, ...]
Values = tuple[bytes, ...]
ABSENT = b""
REMEMBERED = 16_384
STATUS = "status"
NODE = ("spec", "nodeName")
OWN = (
    ("metadata",),
    ("metadata", "name"),
    ("metadata", "uid"),
    ("metadata", "resourceVersion"),
    ("spec",),
)
"""Paths whose values differ between pods that are alike."""
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
    """Reads the values at some paths, each as it is encoded.

    Of objects that are alike the status alone is read each time, and many have the same one.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        given = _outermost(paths)
        outside = tuple(path for path in given if path[0] != STATUS)
        inside = tuple(path for path in given if path[0] == STATUS)
        self.paths = outside + inside
        self._all, self._outside = _Reader(self.paths), _Reader(outside)
        self._inside = _Reader(tuple(path[1:] for path in inside)) if inside != ((STATUS,),) else None
        self._node = outside.index(NODE) if NODE in outside else None
        self._is_shared = not any(path in OWN for path in given)
        self._known: Memo[tuple[int, bool], Values | None] = Memo(REMEMBERED)
        self._kin: Memo[int, bool] = Memo(REMEMBERED)
        """By template: whether its objects have the same values outside of the status."""
        self._statuses: Memo[bytes, Values | None] = Memo(REMEMBERED)

    def are_shared(self, presences: Collection[int]) -> bool:
        """Whether alike objects of equal status have equal values; at `presences` it is enough that all have one."""
        return self._is_shared and (self._node is None or self._node in presences)

    def read(self, stored: Stored) -> Values | None:
        """The values in the order of `paths`, ABSENT where there is none; None where a parent is not an object."""
        facets = stored.facets
        if facets is None or not self._is_shared:
            return self._all.read(stored.data)
        key = self.number(facets), facets.node != ""
        if key not in self._known:
            self._known[key] = self._outside.read(stored.data)
        found, status = self._known[key], self._read_status(facets.status)
        if found is None or status is None:
            return None
        if self._node is None or not facets.node:
            return found + status
        return (*found[: self._node], encode(facets.node), *found[self._node + 1 :], *status)

    def number(self, facets: Facets) -> int:
        """Equal for objects that have the same values outside of the status."""
        kin = facets.kin
        if kin is None:
            return facets.likeness
        is_shared = self._kin.get(kin.number)
        if is_shared is None:
            is_shared = self._kin[kin.number] = not any(kin.varies(path) for path in self._outside.paths)
        return kin.number if is_shared else facets.likeness

    def _read_status(self, encoded: bytes) -> Values | None:
        if self._inside is None:
            return (encoded,)
        if encoded not in self._statuses:
            self._statuses[encoded] = self._inside.read(encoded or b"{}")
        return self._statuses[encoded]


class _Reader:
    """Decodes the values at some paths."""

    def __init__(self, paths: Sequence[Path]) -> None:
        # msgspec keeps what it reads under names that are identifiers: the place of each name in its parent.
        self.paths = paths
        shape, places = _shape(paths)
        self._decoder = msgspec.json.Decoder(shape)
        self._get = attrgetter(*(places[path] for path in paths)) if paths else None

    def read(self, data: bytes) -> Values | None:
        try:
            found = self._get(self._decoder.decode(data)) if self._get is not None else ()
        except msgspec.ValidationError:
            return None
        return (bytes(found),) if isinstance(found, msgspec.Raw) else tuple(map(bytes, found))


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
