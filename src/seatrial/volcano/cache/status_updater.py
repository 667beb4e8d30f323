"""Writes what a session decided: bindings, evictions, and the status of pods, PodGroups and queues.

Upstream: pkg/scheduler/cache/cache.go (DefaultBinder, defaultEvictor, defaultStatusUpdater).
"""

from seatrial.clock import Clock
from seatrial.model.documents import Document
from seatrial.model.errors import StatusError
from seatrial.model.times import to_time
from seatrial.scheduler.schedule_one import PodStatusWriter
from seatrial.store import Store
from seatrial.store.registry import write_status
from seatrial.volcano.apis import POD_GROUP, QUEUE, SCHEDULER_NAME, kind_of
from seatrial.volcano.cache.scheduler_cache import WRITER, SchedulerCache
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.event_recorder import EventRecorder
from seatrial.volcano.framework.job_updater import PodUpdate, SessionResult
from seatrial.volcano.framework.session import Session
from seatrial.volcano.metrics.measures import Measures

_EVICTED = "Pod is evicted, because of {}"
_DISRUPTED = f"{SCHEDULER_NAME}: preempting to accommodate a higher priority pod"


class StatusUpdater:
    """Carries a finished session's decisions out on a store."""

    def __init__(
        self, store: Store, clock: Clock, cache: SchedulerCache, events: EventRecorder | None, measures: Measures
    ) -> None:
        self._store, self._clock, self._cache = store, clock, cache
        self._measures = measures
        self._events = events
        self._pods = PodStatusWriter(store, WRITER)
        self._pod_kind = kind_of(store, ("v1", "Pod"))
        self._groups, self._queues = kind_of(store, POD_GROUP), kind_of(store, QUEUE)

    def write(self, session: Session, result: SessionResult) -> None:
        """Writes everything, in upstream's order: evictions and bindings happen while the session runs."""
        for task, reason in result.evictions:
            self._evict(task, reason)
        for task in result.binds:
            self._measures.reached("PreBound", task.pod.created)
            with self._measures.timed("scheduling_stage_duration_milliseconds", "Bind"):
                self._bind(task)
        for uid in sorted(result.changed):
            self._write_group(uid, result.statuses[uid])
        for update in result.pods:
            self._write_pod(update)
        for name, allocated in result.queues.items():
            if session.queues[name].allocated != allocated:
                self._write_queue(name, allocated)
        if self._events is not None:
            for event in result.events:
                self._events.record(event)

    def _bind(self, task: TaskInfo) -> None:
        pod = task.pod
        try:
            stored = self._store.bind(
                pod.namespace,
                pod.name,
                task.node_name,
                writer=WRITER,
                uid=pod.uid,
                annotations=task.pod_annotations,
            )
        except StatusError:
            return  # the pod or the node has gone meanwhile: the next session sees it
        self._cache.note_binding(task, stored)
        self._measures.reached("Bound", pod.created)
        if self._events is not None:
            self._events.assigned(task)

    def _evict(self, task: TaskInfo, reason: str) -> None:
        text = _EVICTED.format(reason)

        def change(document: Document) -> None:
            conditions = document.setdefault("status", {}).setdefault("conditions", [])
            self._set(conditions, "Ready", "False", "Evict", text)
            self._set(conditions, "DisruptionTarget", "True", "PreemptionByScheduler", _DISRUPTED)

        namespace, name = task.namespace, task.name
        try:
            self._store.modify(self._pod_kind, name, change, writer=WRITER, namespace=namespace, subresource="status")
            self._store.delete(self._pod_kind, name, writer=WRITER, namespace=namespace)
        except StatusError:
            return  # it has gone by itself
        if self._events is not None:
            self._events.evicted(task, text)

    def _set(self, conditions: list[Document], type: str, status: str, reason: str, message: str) -> None:
        fresh = {
            "type": type,
            "status": status,
            "lastProbeTime": None,
            "lastTransitionTime": to_time(self._clock.now()),
            "reason": reason,
            "message": message,
        }
        for place, old in enumerate(conditions):
            if old.get("type") == type:
                conditions[place] = fresh
                return
        conditions.append(fresh)

    def _write_group(self, uid: str, status: Document) -> None:
        namespace, _, name = uid.partition("/")
        stored = self._store.find_current(self._groups, name, namespace)
        if stored is not None:
            write_status(self._store, stored, status, WRITER)

    def _write_pod(self, update: PodUpdate) -> None:
        pod = update.task.pod
        nomination = update.nomination if update.nomination != pod.nominated_node else None
        self._pods.not_scheduled(pod, update.reason, update.message, nomination)
        self._cache.note_condition(pod.uid, update.reason, update.message)

    def _write_queue(self, name: str, allocated: dict[str, str]) -> None:
        def change(document: Document) -> None:
            status = document.setdefault("status", {})
            status["allocated"] = allocated
            status.setdefault("reservation", {})  # a struct in upstream's Go: it is written although it is empty

        try:
            self._store.modify(self._queues, name, change, writer=WRITER, subresource="status")
        except StatusError:
            return  # the queue has gone meanwhile
