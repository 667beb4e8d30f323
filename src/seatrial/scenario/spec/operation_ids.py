"""Ids of operations: the one that is given, else one that the system gives once and for all.

A changed spec is compared with the stored one: an operation without id is known again by its content and keeps its id,
wherever it is in the list now. A new operation never gets an id that the stored spec or the timeline has, nor one whose
operation was removed before: that may be in a timeline that is not yet published, or in a message.
"""

import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import msgspec
import orjson

from seatrial.model.documents import Document, decode, encode

PREFIX = "op-"
_NUMBER = re.compile("[1-9][0-9]{0,8}")


class Planned(msgspec.Struct, frozen=True, gc=False):
    """One operation as it is written in the spec, its id included."""

    id: str
    step: int
    data: bytes

    def document(self) -> Document:
        operation: Document = decode(self.data)
        return operation


class KnownOperations:
    """The operations that a scenario has or had: those of the stored spec, the ids of its timeline, and removed ones.

    Of the removed ones only the highest number is known, `last_removed`.
    """

    def __init__(
        self, listed: Iterable[Mapping[str, Any]] = (), past: Iterable[str] = (), last_removed: int = 0
    ) -> None:
        self.last_removed = last_removed
        self._listed = [operation for operation in listed if isinstance(operation.get("id"), str)]
        self.ids = {*past, *(operation["id"] for operation in self._listed)}

    def last_removed_after(self, ids: Collection[str]) -> int:
        """The highest number of a removed operation when the list has these ids."""
        gone = (operation["id"] for operation in self._listed if operation["id"] not in ids)
        return max((self.last_removed, *map(_number_of, gone)))

    @cached_property
    def _by_content(self) -> dict[bytes, deque[str]]:
        """Ids by content, in the order of the list; worked out only where an operation comes without id."""
        found: dict[bytes, deque[str]] = defaultdict(deque)
        for operation in self._listed:
            found[content_of(operation)].append(operation["id"])
        return found

    def recognise(self, item: bytes, listed: Iterable[str]) -> str | None:
        """The id of an equal operation that is not among `listed`; each id is given once."""
        if not self._listed:
            return None
        ids = self._by_content.get(content_of(decode(item)))
        while ids:
            if (id := ids.popleft()) not in listed:
                return id
        return None


def _number_of(id: str) -> int:
    """The number of an id that the system gives; 0 of any other."""
    return number_in(id.removeprefix(PREFIX)) if id.startswith(PREFIX) else 0


def number_in(text: str) -> int:
    """A number of an id; 0 of what is none, and of numbers that counting does not reach."""
    return int(text) if _NUMBER.fullmatch(text) else 0


def content_of(operation: Mapping[str, Any]) -> bytes:
    """An operation without its id, in one order of fields."""
    return orjson.dumps({key: value for key, value in operation.items() if key != "id"}, option=orjson.OPT_SORT_KEYS)


def with_ids(listed: Iterable[bytes], known: KnownOperations | None = None) -> list[Planned]:
    """The operations with an id each: the one they have or had, else `op-<place>`, moved on where that is taken."""
    known = known or KnownOperations()
    heads = [(item, _heads.decode(item)) for item in listed]
    given = {head.id for _, head in heads if head.id}
    used = given | known.ids
    planned = []
    place = 0
    for item, head in heads:
        place += 1
        id = head.id or ""
        if not id:
            bare = _without_id(item, head)
            if (recognised := known.recognise(bare, given)) is not None:
                id = recognised
            else:
                place = max(place, known.last_removed + 1)
                while (id := f"{PREFIX}{place}") in used:
                    place += 1
            used.add(id)
            item = b'{"id":%s,%s' % (encode(id), bare[1:])
        planned.append(Planned(id, head.step, item))
    return planned


def ids_in(timeline: Mapping[str, Any]) -> Iterator[str]:
    """The ids of all entries of a published timeline."""
    for entries in timeline.values():
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and isinstance(entry.get("id"), str):
                yield entry["id"]


class _Head(msgspec.Struct):
    step: int
    id: str | msgspec.UnsetType = msgspec.UNSET


_heads = msgspec.json.Decoder(_Head)


def step_in(operation: bytes) -> int:
    """The step of an encoded operation."""
    return _heads.decode(operation).step


def _without_id(item: bytes, head: _Head) -> bytes:
    """An operation whose id is not there or empty, without it; it has a step, so something is left."""
    if head.id is msgspec.UNSET:
        return item
    return encode({key: value for key, value in decode(item).items() if key != "id"})
