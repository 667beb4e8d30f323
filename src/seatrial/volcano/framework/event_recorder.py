"""Events of the scheduler in the store. Upstream: client-go/tools/record, through which Volcano reports."""

from seatrial.clock import Clock
from seatrial.controllers.framework import EventRecorder as Recorder
from seatrial.store import Store
from seatrial.volcano.apis import POD_GROUP, SCHEDULER_NAME, kind_of
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.events import NORMAL, WARNING, SessionEvent


class EventRecorder:
    """Writes events about pods and PodGroups."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._recorder = Recorder(store, clock)
        self._kinds = {"Pod": kind_of(store, ("v1", "Pod")), "PodGroup": kind_of(store, POD_GROUP)}

    def assigned(self, task: TaskInfo) -> None:
        text = f"Successfully assigned {task.key} to {task.node_name}"
        self.record(SessionEvent("Pod", task.key, NORMAL, "Scheduled", text))

    def evicted(self, task: TaskInfo, text: str) -> None:
        self.record(SessionEvent("Pod", task.key, WARNING, "Evict", text))

    def record(self, event: SessionEvent) -> None:
        """Writes an event about an object that exists, or counts it once more."""
        namespace, _, name = event.key.partition("/")
        kind = self._kinds[event.kind]
        stored = self._store.find(kind, name, namespace)
        if stored is not None:
            about = stored.document()
            self._recorder.record(SCHEDULER_NAME, kind, about, event.type, event.reason, event.message)
