"""The Events a scheduler reports: created once, then counted as a series.

The second event that says the same of the same revision of an object makes a series of two; later ones are counted in
memory and written when the series has been silent for six minutes. Upstream: client-go/tools/events (v0.36.3).
"""

from itertools import count

from seatrial.clock import Clock
from seatrial.model.documents import Document
from seatrial.model.errors import StatusError
from seatrial.model.times import MINUTE, to_micro_time
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.store_cluster import WRITER
from seatrial.store import Store
from seatrial.store.options import CreateOptions

SILENCE = 6 * MINUTE
LONGEST_NOTE = 1024
_TRUSTED = CreateOptions(trusted=True, owned=True)
_Key = tuple[str, ...]


class _Series:
    """One event and how often it was seen."""

    __slots__ = ("count", "last", "name", "namespace", "written")

    def __init__(self, namespace: str, name: str, now: int) -> None:
        self.namespace, self.name = namespace, name
        self.count = self.written = 1
        self.last = now


class EventReporter:
    """Writes Events about pods into a store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        kind = store.kinds.named("v1", "Event")
        pods = store.kinds.named("v1", "Pod")
        if kind is None or pods is None:
            raise LookupError("v1 Event and Pod are not served")
        self._kind, self._pods = kind, pods
        self._series: dict[_Key, _Series] = {}
        self._numbers = count()
        self._next_finish = clock.now() + SILENCE

    def scheduled(self, pod: PodInfo, node: str, profile: str) -> None:
        note = f"Successfully assigned {pod.namespace}/{pod.name} to {node}"
        self._report(pod, None, "Normal", "Scheduled", "Binding", note, profile)

    def failed(self, pod: PodInfo, message: str, profile: str) -> None:
        self._report(pod, None, "Warning", "FailedScheduling", "Scheduling", _cut(message), profile)

    def preempted(self, victim: PodInfo, by: PodInfo, node: str, profile: str, *, in_memory: bool = False) -> None:
        note = f"Preempted by pod {by.uid} on node {node}" + (" (in kube-scheduler memory)." if in_memory else "")
        self._report(victim, by, "Normal", "Preempted", "Preempting", note, profile)

    def _report(
        self, pod: PodInfo, related: PodInfo | None, type: str, reason: str, action: str, note: str, profile: str
    ) -> None:
        now = self._clock.now()
        if now >= self._next_finish:
            self._finish(now)
        regarding = self._reference(pod)
        other = None if related is None else self._reference(related)
        key = (type, action, reason, profile, *regarding.values(), *(other or {}).values())
        series = self._series.get(key)
        if series is not None:
            series.count += 1
            series.last = now
            if series.count == 2:
                self._write(series)
            return
        name = f"{pod.name}.{now * 1000 + next(self._numbers):x}"
        self._series[key] = _Series(pod.namespace, name, now)
        self._create(name, pod.namespace, regarding, other, type, reason, action, note, profile, now)

    def _create(
        self,
        name: str,
        namespace: str,
        regarding: Document,
        related: Document | None,
        type: str,
        reason: str,
        action: str,
        note: str,
        profile: str,
        now: int,
    ) -> None:
        document: Document = {
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": regarding,
            "reason": reason,
            "message": note,
            "source": {},
            "firstTimestamp": None,
            "lastTimestamp": None,
            "type": type,
            "eventTime": to_micro_time(now),
            "action": action,
            "reportingComponent": profile,
            "reportingInstance": f"{profile}-seatrial",
        }
        if related:
            document["related"] = related
        try:
            self._store.create(self._kind, document, writer=WRITER, namespace=namespace, options=_TRUSTED)
        except StatusError:
            # As upstream: an event that the API refuses (its namespace is going) is not worth a failure.
            return

    def _reference(self, pod: PodInfo) -> Document:
        stored = self._store.find(self._pods, pod.name, pod.namespace)
        return {
            "kind": "Pod",
            "namespace": pod.namespace,
            "name": pod.name,
            "uid": pod.uid,
            "apiVersion": "v1",
            "resourceVersion": str(stored.revision) if stored is not None else "",
        }

    def _write(self, series: _Series) -> None:
        def update(document: Document) -> None:
            document["series"] = {"count": series.count, "lastObservedTime": to_micro_time(series.last)}

        series.written = series.count
        try:
            self._store.modify(self._kind, series.name, update, writer=WRITER, namespace=series.namespace)
        except StatusError:
            return

    def _finish(self, now: int) -> None:
        """Write and forget the series that have been silent for long enough."""
        self._next_finish = now + SILENCE
        for key, series in list(self._series.items()):
            if series.last < now - SILENCE:
                if series.written != series.count:
                    self._write(series)
                del self._series[key]


def _cut(message: str) -> str:
    data = message.encode()
    if len(data) <= LONGEST_NOTE:
        return message
    return data[: LONGEST_NOTE - 4].decode(errors="ignore") + " ..."
