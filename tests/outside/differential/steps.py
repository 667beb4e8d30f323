"""One request of the differential script, and what it remembers of the answers before it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Answers = dict[str, Any]
"""By name: the JSON of earlier answers of the same server."""
Body = Any | Callable[[Answers], Any]

JSON_PATCH = {"Content-Type": "application/json-patch+json"}
MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}
STRATEGIC_PATCH = {"Content-Type": "application/strategic-merge-patch+json"}
APPLY_PATCH = {"Content-Type": "application/apply-patch+yaml"}
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}
PARTIAL = {"Accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"}
PROTOBUF = {"Accept": "application/vnd.kubernetes.protobuf"}
PARTIAL_LIST = {"Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"}


@dataclass(frozen=True)
class Step:
    """A request; `save` names its answer for the bodies of later steps."""

    name: str
    method: str
    path: str
    body: Body = None
    headers: dict[str, str] = field(default_factory=dict)
    save: str = ""
    repeat: bool = False
    """Whether the request is repeated for a while until it succeeds: something has to be noticed first."""
    pause: float = 0
    """Seconds that pass before the request: something has to be noticed that refuses or changes it."""

    def body_for(self, answers: Answers) -> Any:
        """The body, made from the answers so far where it depends on them."""
        return self.body(answers) if callable(self.body) else self.body


def as_user(name: str) -> dict[str, str]:
    """Headers that let the administrator act as another user."""
    return {"Impersonate-User": name}
