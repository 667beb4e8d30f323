"""Stored objects: the encoded JSON at one revision, and the change that led to it.

A document is decoded when it is read and not kept (a pod is 2 KB of bytes and 7 to 18 KB of dicts). A large
document may be kept as a tuple of fragments that are joined only when it is read; revisions share the
fragments that did not change.
"""

from collections.abc import Callable, Hashable
from functools import lru_cache
from itertools import count
from typing import Any, Literal, TypeVar, cast

import msgspec
import orjson

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind

T = TypeVar("T")
ChangeType = Literal["ADDED", "MODIFIED", "DELETED"]
VIEWS_KEPT = 16_384


class Facets(msgspec.Struct, frozen=True, gc=False):
    """Parts of an object that its writers know, so that readers need not decode the bytes again.

    An object from a template has them until a write that is neither a binding nor a status: it is not being deleted,
    and its generation is 1.
    """

    likeness: int
    """Equal for objects that are equal but for name, uid, resourceVersion, status and a pod's spec.nodeName."""
    uid: str
    status: bytes
    """The encoded status, which is the last field of the object; empty where it has none, as a pod never is."""
    node: str = ""
    """The node of a pod."""


new_likeness: Callable[[], int] = count(1).__next__
"""A number for `Facets.likeness` that no other object has; numbers are compared and never shown."""


class Stored(msgspec.Struct, frozen=True, gc=False):
    """One object at one revision."""

    kind: Kind
    namespace: str
    name: str
    revision: int
    content: bytes | tuple[bytes, ...]
    facets: Facets | None = None

    @property
    def data(self) -> bytes:
        """The encoded JSON, metadata.resourceVersion included."""
        content = self.content
        return content if isinstance(content, bytes) else b"".join(content)

    @property
    def size(self) -> int:
        content = self.content
        return len(content) if isinstance(content, bytes) else sum(map(len, content))

    def document(self) -> Document:
        """A fresh dict each call; the caller may change it."""
        return cast(Document, orjson.loads(self.data))

    def view(self, type: type[T]) -> T:
        """A typed view of the fields that `type` declares; shared between callers, so never changed."""
        return cast(T, _view(cast(Hashable, type), self.data))


class Change(msgspec.Struct, frozen=True, gc=False):
    """One entry of the history: the new state of an object, its writer and the time."""

    type: ChangeType
    stored: Stored
    previous: Stored | None
    writer: str
    at: int
    subresource: str = ""

    @property
    def revision(self) -> int:
        return self.stored.revision


@lru_cache(VIEWS_KEPT)
def _view(type: Any, data: bytes) -> Any:
    return msgspec.json.decode(data, type=type)
