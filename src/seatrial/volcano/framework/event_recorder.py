"""Events of the scheduler in the store: one object for each text about an object, with a count.

Upstream: client-go/tools/record, through which Volcano reports; its rate limits are left out.
"""

from itertools import count

from seatrial.clock import Clock
from seatrial.model.documents import Document
from seatrial.model.errors import StatusError
from seatrial.model.kinds import Kind
from seatrial.model.times import to_time
from seatrial.store import Store
from seatrial.store.options import CreateOptions
from seatrial.volcano.apis import POD_GROUP, SCHEDULER_NAME, kind_of
from seatrial.volcano.cache.scheduler_cache import WRITER
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.events import NORMAL, WARNING, SessionEvent

LONGEST_MESSAGE = 1024
_TRUSTED = CreateOptions(trusted=True, owned=True)


class EventRecorder:
    """Writes events about pods and PodGroups."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._events = kind_of(store, ("v1", "Event"))
        self._kinds = {"Pod": kind_of(store, ("v1", "Pod")), "PodGroup": kind_of(store, POD_GROUP)}
        self._names: dict[tuple[str, ...], str] = {}
        self._numbers = count()

    def assigned(self, task: TaskInfo) -> None:
        text = f"Successfully assigned {task.key} to {task.node_name}"
        self.record(SessionEvent("Pod", task.key, NORMAL, "Scheduled", text))

    def evicted(self, task: TaskInfo, text: str) -> None:
        self.record(SessionEvent("Pod", task.key, WARNING, "Evict", text))

    def record(self, event: SessionEvent) -> None:
        """Writes an event, or counts it once more."""
        namespace, _, name = event.key.partition("/")
        kind = self._kinds[event.kind]
        stored = self._store.find(kind, name, namespace)
        if stored is None:
            return
        uid = stored.document()["metadata"].get("uid", "") if event.kind == "PodGroup" else ""
        key = (event.kind, event.key, event.type, event.reason, event.message)
        known = self._names.get(key)
        try:
            if known is not None and self._store.find(self._events, known, namespace) is not None:
                self._store.modify(self._events, known, self._counted, writer=WRITER, namespace=namespace)
                return
            number = self._clock.now() * 1000 + next(self._numbers)
            self._names[key] = f"{name}.{number:x}"
            document = self._document(event, kind, self._names[key], uid)
            self._store.create(self._events, document, writer=WRITER, namespace=namespace, options=_TRUSTED)
        except StatusError:
            return  # an event that is refused (its namespace is going) is not worth a failure

    def _counted(self, document: Document) -> None:
        document["count"] = int(document.get("count") or 1) + 1
        document["lastTimestamp"] = to_time(self._clock.now())

    def _document(self, event: SessionEvent, kind: Kind, name: str, uid: str) -> Document:
        namespace, _, about = event.key.partition("/")
        now = to_time(self._clock.now())
        involved = {"kind": event.kind, "namespace": namespace, "name": about, "apiVersion": kind.api_version}
        if uid:
            involved["uid"] = uid
        return {
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": involved,
            "reason": event.reason,
            "message": event.message[:LONGEST_MESSAGE],
            "source": {"component": SCHEDULER_NAME},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": event.type,
            "eventTime": None,
            "reportingComponent": SCHEDULER_NAME,
            "reportingInstance": "",
        }
