"""Deletes a finished Volcano Job when its ttlSecondsAfterFinished has passed.

Upstream: pkg/controllers/garbagecollector.
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from seatrial.controllers.framework import Context, Key, Listener, QueueController
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND, parse_time
from seatrial.store import Change
from seatrial.store.options import DeleteOptions
from seatrial.volcano.apis import JOB
from seatrial.volcano.controllers.job.status import read_job

FINISHED: Final = ("Completed", "Failed", "Terminated")
TTL: Final = b'"ttlSecondsAfterFinished":'
"""In the encoded form of every Job that is deleted after a while."""


class VolcanoGarbageCollector(QueueController):
    """Looks after finished Jobs."""

    name: ClassVar[str] = "volcano-garbagecollector"
    reads_pods: ClassVar[bool] = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind(*JOB)

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._job_changed}

    def owners(self) -> Iterable[Kind]:
        return []

    def start(self) -> None:
        super().start()
        for stored in self.store.list(self.kind):
            if TTL in stored.data:
                self.enqueue((stored.namespace, stored.name))

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            return
        job = read_job(stored)
        seconds, state = job.spec.ttl_seconds_after_finished, job.status.state
        if job.metadata.deletion_timestamp or seconds is None or state.phase not in FINISHED:
            return
        finished = parse_time(state.last_transition_time) if state.last_transition_time else self.clock.now()
        remaining = finished + seconds * SECOND - self.clock.now()
        if remaining > 0:
            self.enqueue_after(key, remaining)
            return
        options = DeleteOptions(propagation_policy="Foreground", preconditions_uid=job.uid)
        self.store.delete(self.kind, key[1], namespace=key[0], writer=self.name, options=options)

    def _job_changed(self, change: Change) -> None:
        if change.type != "DELETED" and TTL in change.stored.data:
            self.enqueue_changed(change)
