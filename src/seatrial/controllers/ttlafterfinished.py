"""TTL after finished: deletes a finished Job when its ttlSecondsAfterFinished has passed.

Upstream: pkg/controller/ttlafterfinished (v1.36).
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND, parse_time
from seatrial.store.options import DeleteOptions

TTL = b'"ttlSecondsAfterFinished"'
"""Most Jobs have none, which needs no decoding."""


class TTLAfterFinished(QueueController):
    """Deletes finished Jobs."""

    name: ClassVar[str] = "ttlafterfinished"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("batch/v1", "Job")

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self.enqueue_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None or TTL not in stored.data:
            return
        job = stored.document()
        seconds, finished = job["spec"].get("ttlSecondsAfterFinished"), _finished_at(job)
        if seconds is None or finished is None or "deletionTimestamp" in job["metadata"]:
            return
        remaining = finished + seconds * SECOND - self.clock.now()
        if remaining > 0:
            self.enqueue_after(key, remaining)
            return
        options = DeleteOptions(propagation_policy="Foreground", preconditions_uid=job["metadata"]["uid"])
        self.store.delete(self.kind, key[1], namespace=key[0], writer=self.name, options=options)


def _finished_at(job: Document) -> int | None:
    for condition in job.get("status", {}).get("conditions", []):
        if condition["type"] in ("Complete", "Failed") and condition["status"] == "True":
            return parse_time(condition["lastTransitionTime"])
    return None
