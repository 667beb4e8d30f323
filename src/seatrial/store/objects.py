"""Stored objects: the encoded JSON at one revision, and the change that led to it.

A document is decoded when it is read and not kept (a pod is 2 KB of bytes and 7 to 18 KB of dicts). A large
document may be kept as a tuple of fragments that are joined only when it is read; revisions share the
fragments that did not change.
"""

from collections.abc import Callable, Hashable, Mapping
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


Path = tuple[str | int, ...]
"""The steps to a field of a document."""


class Kin(msgspec.Struct, frozen=True, gc=False):
    """The objects of one template: where the values in which they differ are among `Facets.values`."""

    number: int
    """Equal for no other template, and for no likeness."""
    paths: tuple[Path, ...]
    """The fields with these values; the first is the time of creation."""
    labels: tuple[tuple[str, int], ...]
    annotations: dict[str, int]
    owner: tuple[int, int] | None
    """Where name and uid of the only owner are; None where all have the same owners."""
    has_others: bool
    """Whether they differ in more than that."""

    @classmethod
    def of(cls, paths: tuple[Path, ...]) -> "Kin | None":
        """The objects that differ in the values of these fields; None where these are of several owners."""

        def below(field: str) -> dict[Path, int]:
            return {path[2:]: place for place, path in enumerate(paths) if path[:2] == ("metadata", field)}

        labels, notes, owners = below("labels"), below("annotations"), below("ownerReferences")
        if owners and owners.keys() != {(0, "name"), (0, "uid")}:
            return None
        return cls(
            new_likeness(),
            paths,
            tuple((str(path[0]), place) for path, place in labels.items()),
            {str(path[0]): place for path, place in notes.items()},
            (owners[0, "name"], owners[0, "uid"]) if owners else None,
            1 + len(labels) + len(notes) + len(owners) < len(paths),
        )

    def varies(self, path: Path) -> bool:
        """Whether the objects may differ in the value of a field, apart from name, uid and resourceVersion."""
        # Tracked fields have times of their own.
        own_paths = (*self.paths, ("metadata", "managedFields"))
        return any(own[: len(path)] == path or path[: len(own)] == own for own in own_paths)


class Facets(msgspec.Struct, frozen=True, gc=False):
    """Parts of an object that its writers know, so that readers need not decode the bytes again.

    An object from a template has them until a write that is neither a binding nor a status: it is not being deleted,
    and its generation is 1.
    """

    likeness: int
    """Equal for objects that are equal but for name, uid, resourceVersion, status and a pod's spec.nodeName."""
    uid: str
    status: bytes
    """The encoded status; empty where the object has none, as a pod never is."""
    node: str = ""
    """The node of a pod."""
    kin: Kin | None = None
    """The template, unless other fields than status and nodeName were written since."""
    values: tuple[str, ...] = ()
    """In which it differs from others of the template."""
    tail: bytes = b"}"
    """The bytes after the status, which is the last field of a pod, and of each object once its status was written."""

    def labels(self, like: Mapping[str, str]) -> Mapping[str, str]:
        """Its labels, where another object of the template has these."""
        return {**like, **{key: self.values[place] for key, place in self.kin.labels}} if self.kin is not None else like

    def annotation(self, key: str, like: str) -> str:
        """An annotation of it, where another object of the template has this value."""
        place = self.kin.annotations.get(key) if self.kin is not None else None
        return like if place is None else self.values[place]

    def owner(self) -> tuple[str, str] | None:
        """Name and uid of its only owner; None where it has the same owners as other objects of the template."""
        if self.kin is None or self.kin.owner is None:
            return None
        name, uid = self.kin.owner
        return self.values[name], self.values[uid]


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
