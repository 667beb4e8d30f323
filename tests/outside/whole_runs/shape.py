"""What a whole run is made of: operations in steps, and the configuration of the scheduler that plays them.

A shape is added by appending to the `SHAPES` of a module in `shapes/`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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
    namespace: str = "default"


Step = tuple[Operation, ...]
"""Operations that follow each other without a pause; then both schedulers come to rest and are compared."""


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
    backing_off: int = 0
    """How many pods may wait after an error when the schedulers are at rest."""
    random: Mapping[str, str] = field(default_factory=dict)
    """Parts of the comparison (`attempts:NAME`, `events:NAME`) that are random or timing upstream -> why."""
    expects: Callable[[Mapping[str, Document]], bool] = lambda pods: True
    """What the last step must have led to, so that a shape cannot lose its point: pods by name."""


def create(*documents: Document) -> Step:
    """Creates objects."""
    return tuple(
        Operation(
            "create",
            document["apiVersion"],
            document["kind"],
            document["metadata"]["name"],
            document,
            namespace=document["metadata"].get("namespace", "default"),
        )
        for document in documents
    )


def patch(kind: str, name: str, body: Document, *, subresource: str = "", api_version: str = "v1") -> Step:
    """Merges fields into an object of the namespace default or of none."""
    return (Operation("patch", api_version, kind, name, body, subresource),)


def delete(kind: str, *names: str, api_version: str = "v1") -> Step:
    """Deletes objects without grace."""
    return tuple(Operation("delete", api_version, kind, name) for name in names)
