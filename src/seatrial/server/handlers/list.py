"""LIST: selection, chunks with a continue token, and lists at an earlier revision.

A list at revision N is worked out from the present one and the history since: what has changed is put back to what
it was. So a continue token is only a revision and a place, and no state is kept for it.
"""

import asyncio
import base64
import binascii
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from seatrial.model.documents import decode, encode
from seatrial.model.errors import BadRequest, Cause, Gone, ServerTimeout
from seatrial.model.integers import int64_of
from seatrial.model.kinds import Kind
from seatrial.server.encoding.negotiation import JSON
from seatrial.server.encoding.rendering import ListFrame, ListMeta, Rendering
from seatrial.server.handlers.options import invalid
from seatrial.server.messages import Answer, Request, Stream
from seatrial.server.selection import Selection
from seatrial.store import Store, Stored

STREAM_FROM = 128 * 1024
"""Bytes from which a list is sent in chunks."""
SENT_AT_ONCE = 512 * 1024
TURN = 0.01
"""Seconds of work before others get their turn."""
T = TypeVar("T")
MATCHES = ("", "Exact", "NotOlderThan")
LATEST = -1
"""The revision in the token of a list that goes on although its revision is no longer kept."""
INCONSISTENT = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


@dataclass(frozen=True, slots=True)
class Continuation:
    """Where the next chunk begins."""

    revision: int
    after: tuple[str, str]

    def token(self) -> str:
        """The opaque text a client hands back."""
        namespace, name = self.after
        start = f"{namespace}/{name}\0" if namespace else f"{name}\0"
        text = encode({"v": "meta.k8s.io/v1", "rv": self.revision, "start": start})
        return base64.urlsafe_b64encode(text).rstrip(b"=").decode()

    @classmethod
    def parse(cls, token: str) -> "Continuation":
        try:
            document = decode(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
            namespace, _, name = document["start"].rstrip("\0").rpartition("/")
            return cls(int(document["rv"]), (namespace, name))
        except binascii.Error:
            why = "continue key is not valid: illegal base64 data at input byte 0"
            raise BadRequest(f"invalid continue token: {why}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            why = "continue key is not valid: the token was not made by this server"
            raise BadRequest(f"invalid continue token: {why}") from None


class Lists:
    """Answers LIST requests from the store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def answer(self, request: Request, kind: Kind, selection: Selection, rendering: Rendering) -> Answer | Stream:
        """The list for a request; `kind` is the one stored."""
        limit = request.number("limit") or 0
        token = request.query.get("continue", "")
        revision, start = self._start(request, token)
        try:
            found = self._objects(kind, selection, revision)
        except Gone:
            if start is None:
                raise Gone("The resourceVersion for the provided list is too old.") from None
            raise Gone(INCONSISTENT, continuation=Continuation(LATEST, start).token()) from None
        if start is not None:
            found = [stored for stored in found if (stored.namespace, stored.name) > start]
        if not selection.is_everything:
            found = await selected(found, selection, limit + 1 if limit > 0 else 0)
        meta = ListMeta(revision)
        if 0 < limit < len(found):
            last = found[limit - 1]
            rest = len(found) - limit if selection.is_everything else 0
            meta = ListMeta(revision, Continuation(revision, (last.namespace, last.name)).token(), rest)
            found = found[:limit]
        if not rendering.streams_lists:
            return rendering.protobuf_list([item async for item in _items(found, rendering)], meta)
        frame = rendering.list_frame(meta, empty=not found)
        if sum(stored.size for stored in found) > STREAM_FROM:
            return Stream(_chunks(found, frame, rendering), frame.media, compressible=True)
        items = [item async for item in _items(found, rendering)]
        return Answer(frame.head + frame.separator.join(items) + frame.tail, content_type=frame.media)

    def _start(self, request: Request, token: str) -> tuple[int, tuple[str, str] | None]:
        """The revision to list at and what was already sent."""
        text, match = request.query.get("resourceVersion", ""), request.query.get("resourceVersionMatch", "")
        _check_match(request, text, match, token)
        if token:
            continuation = Continuation.parse(token)
            is_latest = continuation.revision == LATEST
            return self._store.revision if is_latest else continuation.revision, continuation.after
        wanted = parse_revision(text)
        now = self._store.revision
        if wanted > now:
            raise too_large(wanted, now)
        limit = request.number("limit") or 0
        # An old rule of upstream: with a limit, a revision other than 0 means exactly that one.
        exact = match == "Exact" or (not match and limit > 0 and wanted > 0)
        return (wanted if exact else now), None

    def _objects(self, kind: Kind, selection: Selection, revision: int) -> Sequence[Stored]:
        namespace = selection.namespace
        if revision == self._store.revision and selection.name and (namespace or not kind.namespaced):
            named = self._store.find(kind, selection.name, namespace)
            return [named] if named is not None else []
        present = self._store.list(kind, namespace)
        if revision == self._store.revision:
            return present
        changes = list(self._store.changes(revision, kind))
        if not changes:
            return present
        objects = {(stored.namespace, stored.name): stored for stored in present}
        for change in reversed(changes):
            key = change.stored.namespace, change.stored.name
            if namespace and key[0] != namespace:
                continue
            if change.previous is None:
                objects.pop(key, None)
            else:
                objects[key] = change.previous
        return self._store.versions.read_all(kind, [objects[key] for key in sorted(objects)])


async def _in_turns(found: Sequence[Stored], make: Callable[[Stored], T]) -> AsyncIterator[T]:
    """Apply `make` to each object, yielding to other requests now and then."""
    end = time.monotonic() + TURN
    for stored in found:
        yield make(stored)
        if time.monotonic() > end:
            await asyncio.sleep(0)
            end = time.monotonic() + TURN


async def _items(found: Sequence[Stored], rendering: Rendering) -> AsyncIterator[bytes]:
    """The items of a list; those that take long to encode are made on another thread."""
    loop = asyncio.get_running_loop()
    end = time.monotonic() + TURN
    for stored in found:
        if rendering.encodes_at_once(stored):
            yield rendering.item(stored)
        else:
            yield await loop.run_in_executor(None, rendering.item, stored)
        if time.monotonic() > end:
            await asyncio.sleep(0)
            end = time.monotonic() + TURN


async def selected(found: Sequence[Stored], selection: Selection, enough: int = 0) -> list[Stored]:
    """The objects in a selection, or the first ones if some are enough; others get their turn meanwhile."""
    chosen: list[Stored] = []
    async for stored, is_in in _in_turns(found, lambda stored: (stored, selection.admits(stored))):
        if is_in:
            chosen.append(stored)
            if enough and len(chosen) >= enough:
                break
    return chosen


async def _chunks(found: Sequence[Stored], frame: ListFrame, rendering: Rendering) -> AsyncIterator[bytes]:
    parts = [frame.head]
    size, separator = 0, b""
    async for item in _items(found, rendering):
        parts += (separator, item)
        separator = frame.separator
        size += len(item)
        if size > SENT_AT_ONCE:
            yield b"".join(parts)
            parts, size = [], 0
            await asyncio.sleep(0)
    parts.append(frame.tail)
    if frame.media == JSON and not rendering.is_indented:
        parts.append(b"\n")
    yield b"".join(parts)


def parse_revision(text: str) -> int:
    """A resourceVersion from a query; none is 0."""
    if not text:
        return 0
    revision = int64_of(text, -1)
    if revision < 0 or not text.isdecimal():
        why = f'Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
        raise invalid("ListOptions", [Cause("resourceVersion", why)])
    return revision


def too_large(wanted: int, now: int) -> ServerTimeout:
    """The refusal of a revision that does not exist yet."""
    return ServerTimeout(
        f"Timeout: Too large resource version: {wanted}, current: {now}",
        causes=[Cause("", "Too large resource version", "ResourceVersionTooLarge")],
        retry_after=1,
    )


def _check_match(request: Request, text: str, match: str, token: str) -> None:
    causes = []

    def forbid(field: str, why: str) -> None:
        causes.append(Cause(field, f"Forbidden: {why}", "FieldValueForbidden"))

    if match:
        if token:
            forbid("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided")
        if not text:
            forbid("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided")
        if match not in MATCHES:
            supported = 'supported values: "Exact", "NotOlderThan", ""'
            why = f'Unsupported value: "{match}": {supported}'
            causes.append(Cause("resourceVersionMatch", why, "FieldValueNotSupported"))
        if match == "Exact" and text == "0":
            forbid("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
    if "sendInitialEvents" in request.query:
        forbid("sendInitialEvents", "sendInitialEvents is forbidden for list")
    if causes:
        raise invalid("ListOptions", causes)
    if token and text not in ("", "0"):
        raise BadRequest("specifying resource version is not allowed when using continue")
