"""What a whole run is made of: operations in steps, and the configuration of the scheduler that plays them.

A shape is added by appending to the `SHAPES` of a module in `shapes/`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from seatrial.scheduler.versions import Version

Document = dict[str, Any]
Answer = Callable[[str, Any], Any]
"""An extender: the verb and its arguments -> the answer."""


class Operation(NamedTuple):
    """A write of a user. A create has a document, a patch is a merge patch, a delete has no body."""

    verb: str
    api_version: str
    kind: str
    name: str
    body: Any = None
    subresource: str = ""


Step = tuple[Operation, ...]
"""Operations after which both schedulers are compared; they come to rest after each one."""


@dataclass(frozen=True)
class Shape:
    """One whole run."""

    name: str
    steps: tuple[Step, ...]
    config: Document = field(default_factory=dict)
    """Fields of the KubeSchedulerConfiguration."""
    gates: Mapping[str, bool] = field(default_factory=dict)
    extender: Answer | None = None
    """Answers both schedulers; its address becomes the `urlPrefix` of every extender of `config`."""
    starts_pods: bool = True
    """Whether bound pods become Running and pods that are being deleted go away between steps."""
    seconds: float = 0.0
    """How long time passes after each step before the schedulers are compared (timeouts, delays of hardware)."""
    pause: float = 0.0
    """How long time passes before each step, so that no pod is backing off."""
    backing_off: int = 0
    """How many pods may wait after an error when the schedulers are at rest."""
    kind: tuple[str, str] | None = None
    """A kind that not every version has: the API version and the name."""
    is_quick: bool = False
    """Whether it is one of the few that every change is landed with."""
    random: Mapping[str, str] = field(default_factory=dict)
    """Parts of the comparison (`attempts:NAME`, `events:NAME`) that are random or timing upstream -> why."""
    expects: Callable[[Mapping[str, Document]], bool] = lambda pods: True
    """What the last step must have led to, so that a shape cannot lose its point: pods by name."""


def plays_in(shape: Shape, version: Version) -> bool:
    """Whether a version has the gates and the kind that a shape is about."""
    has_kind = shape.kind is None or shape.kind in version.added_kinds
    return has_kind and set(shape.gates) <= set(version.gates)


def create(*documents: Document) -> Step:
    """Creates objects; the status of any but a Node is written after that."""
    found: list[Operation] = []
    for document in documents:
        where = document["apiVersion"], document["kind"], document["metadata"]["name"]
        found.append(Operation("create", *where, document))
        if document.get("status") and document["kind"] != "Node":
            found.append(Operation("patch", *where, {"status": document["status"]}, "status"))
    return tuple(found)


def patch(kind: str, name: str, body: Document, *, subresource: str = "", api_version: str = "v1") -> Step:
    """Merges fields into an object of the namespace default or of none."""
    return (Operation("patch", api_version, kind, name, body, subresource),)


def delete(kind: str, *names: str, api_version: str = "v1") -> Step:
    """Deletes objects without grace."""
    return tuple(Operation("delete", api_version, kind, name) for name in names)
