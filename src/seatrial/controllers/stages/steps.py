"""The steps of a Stage: finalizers, deletion, patches, other objects, events."""

from dataclasses import dataclass, field
from typing import Any

from seatrial.controllers.stages.field_reader import Fields
from seatrial.controllers.stages.functions import functions_at
from seatrial.controllers.stages.templates import Template
from seatrial.model import yaml_reader as yamls
from seatrial.model.documents import Document
from seatrial.store import Stored
from seatrial.store.options import PatchType

Moment = tuple[int, int]
"""Now, and when the lifecycle controller started."""
LookKey = tuple[int, tuple[bytes, ...]]
"""The time if it matters, and what a template sees of an object: its status first, then the rest."""
CLOCKS = frozenset({"Now", "StartTime"})
OBJECT_BOUND = frozenset({"NodeName", "NodeIP", "NodeIPs", "NodePort"})


@dataclass(frozen=True, slots=True)
class Rendering:
    """A template and the fields of an object that it reads."""

    template: Template
    fields: Fields | None = field(init=False)
    is_timed: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", _fields(self.template))
        object.__setattr__(self, "is_timed", bool(self.template.calls & CLOCKS))

    def body(self, document: Document, moment: Moment) -> Any:
        """The document that the template renders from this one."""
        functions = functions_at(*moment, document)
        loaded = yamls.load_all(self.template.render(document, functions))
        return loaded[0] if loaded else {}

    def key(self, stored: Stored, now: int) -> LookKey | None:
        """Equal for two objects of which the template makes the same, whose status is the same; None: unknown."""
        found = self.fields.read(stored) if self.fields is not None else None
        return (now if self.is_timed else 0, found) if found is not None else None


@dataclass(frozen=True, slots=True, eq=False)
class PatchStep:
    """Patch the object itself."""

    subresource: str
    root: str
    type: PatchType
    rendering: Rendering

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
    """Record an Event about the object."""

    type: str
    reason: str
    message: str


Step = PatchStep | ApplyStep | FinalizerStep | DeleteStep | EventStep


def _fields(template: Template) -> Fields | None:
    """The parts that a template reads, and the status; None where it may read any field."""
    if template.reads is None or template.calls & OBJECT_BOUND:
        return None
    return Fields([("status",), *sorted(path[:2] for path in template.reads)])
