"""What a Stage does, one step after the other: finalizers, deletion, patches, other objects, events."""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from seatrial.controllers.stages.functions import functions_at
from seatrial.controllers.stages.templates import Template
from seatrial.model import yamls
from seatrial.model.documents import Document
from seatrial.store.objects import Stored
from seatrial.store.options import PatchType

Moment = tuple[int, int]
"""Now, and when the player of stages began."""
CLOCKS = frozenset({"Now", "StartTime"})
OBJECT_BOUND = frozenset({"NodeName", "NodeIP", "NodeIPs", "NodePort"})


@dataclass(frozen=True, slots=True)
class Rendering:
    """A template and how much of an object it looks at."""

    template: Template
    reader: "msgspec.json.Decoder[Any] | None" = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reader", _reader(self.template))

    def body(self, document: Document, moment: Moment) -> Any:
        """The document that the template makes of this one."""
        functions = functions_at(*moment, document)
        loaded = yamls.load_all(self.template.render(document, functions))
        return loaded[0] if loaded else {}

    def key(self, stored: Stored, now: int) -> tuple[Any, ...] | None:
        """Equal for two objects of which the template makes the same, whose status is the same; None: unknown."""
        if self.reader is None:
            return None
        seen = self.reader.decode(stored.data)
        return now if self.template.calls & CLOCKS else 0, *_raw(seen)


@dataclass(frozen=True, slots=True)
class PatchStep:
    """Patch the object itself."""

    subresource: str
    root: str
    type: PatchType
    rendering: Rendering
    memory: dict[tuple[Any, ...], bytes] = field(default_factory=dict)

    @property
    def is_status(self) -> bool:
        return self.subresource == "status" and self.root == "status"

    def body(self, document: Document, moment: Moment) -> Any:
        """The patch, put under its root."""
        body = self.rendering.body(document, moment)
        if not self.root:
            return body
        if self.type == "json":
            return [operation | {"path": f"/{self.root}{operation['path']}"} for operation in body]
        return {self.root: body}


@dataclass(frozen=True, slots=True)
class ApplyStep:
    """Create or change another object."""

    subresource: str
    type: PatchType
    rendering: Rendering


@dataclass(frozen=True, slots=True)
class FinalizerStep:
    """Change the object's finalizers."""

    add: tuple[str, ...]
    remove: frozenset[str]
    empty: bool

    def changed(self, finalizers: list[str]) -> list[str]:
        kept = [] if self.empty else [finalizer for finalizer in finalizers if finalizer not in self.remove]
        return kept + [finalizer for finalizer in self.add if finalizer not in kept]


@dataclass(frozen=True, slots=True)
class DeleteStep:
    """Delete the object; nothing but events follows."""


@dataclass(frozen=True, slots=True)
class EventStep:
    """Say something about the object."""

    type: str
    reason: str
    message: str


Step = PatchStep | ApplyStep | FinalizerStep | DeleteStep | EventStep


def _reader(template: Template) -> "msgspec.json.Decoder[Any] | None":
    """A decoder of just the parts that a template reads, and the status, each as it is encoded."""
    if template.reads is None or template.calls & OBJECT_BOUND:
        return None
    raw, nothing = msgspec.Raw, msgspec.Raw(b"")
    below: dict[str, list[str]] = {}
    for path in sorted(template.reads):
        if path[0] != "status":
            below.setdefault(path[0], []).extend(path[1:2] or [""])
    fields: list[Any] = [("status", raw, nothing)]
    for name, parts in below.items():
        if "" in parts:
            fields.append((name, raw, nothing))
        else:
            kind = msgspec.defstruct("Part", [(part, raw, nothing) for part in dict.fromkeys(parts)])
            fields.append((name, kind, msgspec.field(default_factory=kind)))
    return msgspec.json.Decoder(msgspec.defstruct("Parts", fields))


def _raw(seen: Any) -> list[bytes]:
    found: list[bytes] = []
    for name in seen.__struct_fields__:
        value = getattr(seen, name)
        found += [bytes(value)] if isinstance(value, msgspec.Raw) else _raw(value)
    return found
