"""ResourceQuota: recomputes the usage of a namespace when an object that may affect it changes.

Upstream: pkg/controller/resourcequota (v1.36). Admission adds to the usage with every write it allows; this controller
lowers it when objects are deleted.
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.controllers.framework.pod_control import set_status
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND
from seatrial.model.writers import is_user
from seatrial.store import Change
from seatrial.store.admission import quota_usage

POD_IS_OVER = (b'"deletionTimestamp"', b'"phase":"Succeeded"', b'"phase":"Failed"')
WITHOUT_COUNT = frozenset({("", "Event"), ("events.k8s.io", "Event"), ("coordination.k8s.io", "Lease")})


RESYNC = 10 * SECOND
"""A status that a client wrote is brought back. Upstream does it at the next full resync, within five minutes; ten
seconds let the client see what it wrote."""


class ResourceQuota(QueueController):
    """Keeps `.status` of quotas."""

    name: ClassVar[str] = "resourcequota"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("v1", "ResourceQuota")
        self._in_namespace: dict[str, dict[str, None]] = {}

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._quota_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def start(self) -> None:
        super().start()
        for stored in self.store.list(self.kind):
            self._in_namespace.setdefault(stored.namespace, {})[stored.name] = None
        self._unsubscribe.append(self.store.subscribe(self._something_changed, types=["MODIFIED", "DELETED"]))

    def stop(self) -> None:
        super().stop()
        self._in_namespace.clear()

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            return
        quota = stored.document()
        hard = quota["spec"].get("hard", {})
        status: Document = {"hard": hard, "used": quota_usage(self.store, quota, self.clock.now())} if hard else {}
        set_status(self.context, stored, status, self.name)

    def _quota_changed(self, change: Change) -> None:
        stored = change.stored
        if change.type == "DELETED":
            self._in_namespace.get(stored.namespace, {}).pop(stored.name, None)
            return
        self._in_namespace.setdefault(stored.namespace, {})[stored.name] = None
        key = stored.namespace, stored.name
        if change.subresource != "status":
            self.enqueue(key)
        elif is_user(change.writer) and self.context.is_live:
            self.enqueue_after(key, RESYNC)

    def _something_changed(self, change: Change) -> None:
        """Enqueue quotas when an object is deleted or a pod ends."""
        names = self._in_namespace.get(change.stored.namespace)
        if not names or not _gives_back(change):
            return
        for name in names:
            self.enqueue((change.stored.namespace, name))


def _gives_back(change: Change) -> bool:
    kind = change.stored.kind.group_kind
    if kind in WITHOUT_COUNT:
        return False
    if kind == ("", "Pod") and change.type == "MODIFIED":
        return any(mark in change.stored.data for mark in POD_IS_OVER)
    return change.type == "DELETED" or (change.type == "MODIFIED" and change.subresource != "status")
