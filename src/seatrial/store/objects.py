"""Stored objects: the encoded JSON at one revision, and the change that led to it.

A document is decoded when it is read and not kept (a pod is 2 KB of bytes and 7 to 18 KB of dicts). A large
document may be kept as a tuple of fragments that are joined only when it is read; revisions share the
fragments that did not change. Small objects that are alike are kept as what they differ in, larger ones compressed
(`store.mvcc.packing`).
`store.views` reads the fields of an object without decoding the rest of it.
"""

import zlib
from collections.abc import Callable
from sys import intern
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec
import orjson

from seatrial.model.documents import Document, encode_to_keep
from seatrial.model.kinds import Kind
from seatrial.store.memo import Memo

if TYPE_CHECKING:
    from seatrial.store.views.view import Views

ChangeType = Literal["ADDED", "MODIFIED", "DELETED"]
_POD = ("", "Pod")
LIKES_KEPT = 64
"""Of how many views a template keeps an object."""

Path = tuple[str | int, ...]
"""The steps to a field of a document."""


class Varying(msgspec.Struct, frozen=True, eq=False):
    """In what the objects of one template differ, and what views read of one of them."""

    paths: tuple[Path, ...]
    """The fields with the values of `Shape.values`; the first is the time of creation."""
    likes: Memo[Any, Any] = msgspec.field(default_factory=lambda: Memo(LIKES_KEPT))


class Shape(msgspec.Struct, frozen=True, eq=False, gc=False):
    """Stands for objects that are equal but for name, uid, resourceVersion, status and a pod's spec.nodeName."""

    template: Varying | None = None
    """None where other fields than status and nodeName were written since the creation."""
    values: tuple[Any, ...] = ()
    """In which they differ from others of the template."""


class Facets(msgspec.Struct, frozen=True, gc=False):
    """Parts of an object that its writers know, so that readers need not decode the bytes again.

    An object that has them is not being deleted.
    """

    shape: Shape
    uid: str
    status: bytes
    """The encoded status; empty where the object has none, as a pod never is."""
    node: str = ""
    """The node of a pod."""
    tail: bytes = b"}"
    """The bytes after the status, which is the last field of a pod, and of each object once its status was written."""


def facets_of(kind: Kind, document: Document, shape: Shape | None = None) -> Facets | None:
    """Of an object that is like no other, unless it has this shape.

    None for one without status, one that is deleted, and an odd pod.
    """
    status, metadata, node = document.get("status"), document["metadata"], ""
    if not isinstance(status, dict) or metadata.get("deletionTimestamp"):
        return None
    names = [*document]
    place = names.index("status")
    if kind.group_kind == _POD:
        spec = document.get("spec") or {}
        node = spec.get("nodeName") or ""
        # A binding puts the node between the spec and the status, which ends the pod.
        if not node and (names[place - 1 :] != ["spec", "status"] or not spec or "nodeName" in spec):
            return None
    after = {name: document[name] for name in names[place + 1 :]}
    tail = b"," + encode_to_keep(after)[1:] if after else b"}"
    return Facets(shape or Shape(), metadata["uid"], encode_to_keep(status), node, tail)


class _Metadata(msgspec.Struct, rename="camel", frozen=True, gc=False):
    uid: str = ""
    deletion_timestamp: str | None = None


class _Spec(msgspec.Struct, rename="camel", gc=False):
    node_name: str | None = None


class _Own(msgspec.Struct):
    """What an object has of its own, where it is known by its bytes alone."""

    metadata: _Metadata = _Metadata()
    spec: msgspec.Raw = msgspec.Raw(b"")
    status: msgspec.Raw = msgspec.Raw(b"")


_own, _spec = msgspec.json.Decoder(_Own), msgspec.json.Decoder(_Spec)


SEPARATOR = b"\0"
"""Not in any JSON text: control characters are escaped there."""


class Skeleton(msgspec.Struct, frozen=True, eq=False):
    """The text that encoded objects have in common, with gaps for the values in which they differ."""

    parts: list[bytes]
    """Texts, and between each two of them an empty one for a value."""
    slots: tuple[int, ...]
    """Which of the values is in each gap."""
    pick: Callable[[list[bytes]], tuple[bytes, ...]]
    """Picks the value of each gap."""


class Packed(msgspec.Struct, frozen=True, gc=False):
    """An encoded object as what it has in the gaps of a skeleton."""

    skeleton: Skeleton
    values: bytes
    """The values, separated."""
    size: int
    """The length of the encoded object."""

    def joined(self) -> bytes:
        """The encoded object."""
        skeleton = self.skeleton
        parts = skeleton.parts.copy()
        parts[1::2] = skeleton.pick(self.values.split(SEPARATOR))
        return b"".join(parts)


class Compressed(msgspec.Struct, frozen=True, gc=False):
    """A large encoded object that has much in common with itself."""

    zipped: bytes
    size: int
    """The length of the encoded object."""

    def joined(self) -> bytes:
        """The encoded object."""
        return zlib.decompress(self.zipped, bufsize=self.size)


class Stored(msgspec.Struct, frozen=True, gc=False):
    """One object at one revision."""

    kind: Kind
    namespace: str
    name: str
    revision: int
    content: bytes | tuple[bytes, ...] | Packed | Compressed
    facets: Facets | None = None
    views: "Views | None" = None
    """What the store keeps of the views of its objects; None: this is no state of an object in a store."""

    @property
    def data(self) -> bytes:
        """The encoded JSON, metadata.resourceVersion included."""
        content = self.content
        if isinstance(content, bytes):
            return content
        return b"".join(content) if isinstance(content, tuple) else content.joined()

    @property
    def pieces(self) -> bytes | tuple[bytes, ...]:
        """The encoded JSON, or the fragments of a large document whose revisions share them."""
        content = self.content
        return content if isinstance(content, bytes | tuple) else content.joined()

    @property
    def size(self) -> int:
        content = self.content
        if isinstance(content, bytes):
            return len(content)
        return sum(map(len, content)) if isinstance(content, tuple) else content.size

    @property
    def uid(self) -> str:
        facets = self.facets
        return facets.uid if facets is not None else self._own().metadata.uid

    @property
    def node_name(self) -> str:
        """spec.nodeName of a pod; empty where it is not bound."""
        facets = self.facets
        if facets is not None and (facets.node or self.kind.group_kind == _POD):
            return facets.node
        if b'"nodeName"' not in self.data:
            return ""
        # Many rows keep it, and a node has many pods.
        return intern(_spec.decode(self._own().spec).node_name or "")

    @property
    def is_deleting(self) -> bool:
        """Whether the deletion was requested, and the object waits for its grace period or its finalizers."""
        if self.facets is not None:
            return False
        return b'"deletionTimestamp"' in self.data and bool(self._own().metadata.deletion_timestamp)

    @property
    def encoded_status(self) -> bytes:
        """The status as it is encoded; empty without a status."""
        facets = self.facets
        return facets.status if facets is not None else bytes(self._own().status)

    @property
    def shape(self) -> Shape | None:
        """A key, equal for objects that are known to be equal but for name, uid, revision, status and node.

        None where nothing is known of others.
        """
        facets = self.facets
        return facets.shape if facets is not None else None

    def differs_only_in_status_or_node(self, previous: "Stored | None") -> bool:
        """Whether two states of an object are known to be equal but for the status and a pod's node."""
        facets, before = self.facets, previous.facets if previous is not None else None
        return facets is not None and before is not None and facets.shape is before.shape

    def _own(self) -> _Own:
        views = self.views
        found = views.own.get(self.revision) if views is not None else None
        if found is None:
            found = _own.decode(self.data)
            if views is not None:
                views.own[self.revision] = found
        return found

    def document(self) -> Document:
        """A fresh dict each call; the caller may change it."""
        return cast(Document, orjson.loads(self.data))


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
