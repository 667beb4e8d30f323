"""Requests and responses: a request with its body, a response in one piece, or a stream of chunks."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from seatrial.model.documents import encode
from seatrial.model.errors import BadRequest
from seatrial.server.encoding.negotiation import JSON
from seatrial.store import User


class Disconnected(Exception):
    """The client went away before its request was whole, or carried out."""


@dataclass(slots=True)
class Request:
    """One HTTP request whose body has been read and whose user is known."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    user: User
    warnings: list[str] = field(default_factory=list)
    gone: Callable[[], Awaitable[None]] | None = None
    """Returns when the client has gone away; None where that cannot be known."""

    def header(self, name: str) -> str:
        return self.headers.get(name, "")

    def flag(self, name: str) -> bool:
        """A boolean query parameter as Go's conversion reads it: present and not false."""
        text = self.query.get(name)
        return text is not None and text.lower() not in ("false", "0")

    @property
    def wants_indented(self) -> bool:
        """Whether JSON is indented: asked for, or unless refused for curl, Wget and browsers."""
        return wants_indented(self.query, self.headers)

    def number(self, name: str) -> int | None:
        """An integer query parameter; None without one."""
        text = self.query.get(name, "")
        if not text:
            return None
        try:
            number = int(text)
        except ValueError:
            raise BadRequest(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None
        if not -(2**63) <= number < 2**63:
            raise BadRequest(f'strconv.ParseInt: parsing "{text}": value out of range')
        return number


@dataclass(slots=True)
class Answer:
    """A whole answer."""

    body: bytes = b""
    status: int = 200
    content_type: str = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()
    newline: bool = True
    """Whether a newline follows the JSON, as upstream's serializers write it."""
    encode: Callable[[], bytes] | None = None
    """Makes the body on another thread, where that takes long."""


@dataclass(slots=True)
class Stream:
    """An answer that is sent chunk by chunk: a watch, or a list too large for one piece."""

    chunks: AsyncIterator[bytes]
    content_type: str = JSON
    status: int = 200
    compressible: bool = False
    """Whether it may be compressed; a watch may not, since its events must not wait for a full buffer."""
    close: Callable[[], None] | None = None
    """Ends the stream early: called when its client has gone."""


def json_answer(document: Any, status: int = 200) -> Answer:
    """A document as a JSON answer."""
    return Answer(encode(document), status)


def wants_indented(query: Mapping[str, str], headers: Mapping[str, str]) -> bool:
    """Whether a client is to see indented JSON; upstream: isPrettyPrint of pkg/endpoints/handlers/negotiation."""
    asked = query.get("pretty", "")
    if asked:
        return asked in ("1", "t", "T", "true", "TRUE", "True")
    return headers.get("user-agent", "").startswith(("curl", "Wget", "Mozilla/5.0"))


def parse_query(text: bytes) -> Mapping[str, str]:
    """Query parameters; the first of several equal names counts, as in Go's url.Values.Get."""
    if not text:
        return {}
    try:
        pairs = parse_qsl(text.decode("latin-1"), keep_blank_values=True)
    except ValueError as error:
        raise BadRequest(f"invalid query: {error}") from None
    return dict(reversed(pairs))
