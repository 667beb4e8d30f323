"""A queue as the session sees it. Upstream: pkg/scheduler/api/queue_info.go."""

from functools import cached_property

from seatrial.model.documents import Document
from seatrial.model.times import parse_time
from seatrial.volcano.apis.labels import HIERARCHY, HIERARCHY_WEIGHTS
from seatrial.volcano.cache.resource import Resource

OPEN = "Open"
ROOT = "root"


class QueueInfo:
    """One Queue."""

    def __init__(self, document: Document) -> None:
        self.document = document
        metadata = document["metadata"]
        self.name: str = metadata["name"]
        self.spec: Document = document.get("spec") or {}
        self.weight: int = self.spec.get("weight") or 0
        self.priority: int = self.spec.get("priority") or 0
        annotations = metadata.get("annotations") or {}
        self.hierarchy: str = annotations.get(HIERARCHY, "")
        self.weights: str = annotations.get(HIERARCHY_WEIGHTS, "")
        created = metadata.get("creationTimestamp")
        self.created = parse_time(created) if created else 0
        self.allocated: dict[str, str] = dict((document.get("status") or {}).get("allocated") or {})

    @property
    def is_open(self) -> bool:
        return (self.document.get("status") or {}).get("state") == OPEN

    @property
    def is_reclaimable(self) -> bool:
        return self.spec.get("reclaimable") is not False

    @property
    def parent(self) -> str:
        return self.spec.get("parent") or ""

    @cached_property
    def guarantee(self) -> Resource:
        """What is reserved for the queue. Not to be changed."""
        return Resource.read((self.spec.get("guarantee") or {}).get("resource"))

    @property
    def has_guarantee(self) -> bool:
        return bool((self.spec.get("guarantee") or {}).get("resource"))

    @property
    def capability(self) -> Resource | None:
        """The most the queue may use; None where it does not say."""
        given = self.spec.get("capability")
        return Resource.read(given) if given else None

    @property
    def deserved(self) -> Resource:
        return Resource.read(self.spec.get("deserved"))
