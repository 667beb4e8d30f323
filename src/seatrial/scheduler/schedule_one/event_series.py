"""The Events a scheduler reports: created once, then counted as a series.

The second event that says the same of the same version of an object makes a series of two; later ones are counted in
memory. Every six minutes the series that have been silent for as long are written and forgotten, every thirty minutes
all others are written. Upstream: client-go/tools/events/event_broadcaster.go (v0.36.3).
"""

from itertools import count

from seatrial.clock import Clock, Timer
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound, StatusError
from seatrial.model.times import MINUTE, to_micro_time
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.store_cluster import WRITER
from seatrial.scheduler.versions import DEFAULT, Rules
from seatrial.store import PreparedCreate, Store
from seatrial.store.options import CreateOptions

FINISH_PERIOD = 6 * MINUTE
"""How often silent series are finished, and how long silence is."""
REFRESH_EVERY = 5
"""In how many of these periods series that go on are written once: every thirty minutes."""
LONGEST_NOTE = 1024
_TRUSTED = CreateOptions(trusted=True, owned=True)
_Key = tuple[str, ...]
"""type, action, reason, profile; then namespace, name, uid and resourceVersion of the pod."""


class _Series:
    """One event and how often it was seen."""

    __slots__ = ("count", "first", "last", "name", "note", "related")

    def __init__(self, name: str, note: str, now: int, related: PodInfo | None = None) -> None:
        self.name, self.note, self.related = name, note, related
        self.count = 1
        self.first = self.last = now


class EventReporter:
    """Writes Events about pods into a store."""

    def __init__(self, store: Store, clock: Clock, rules: Rules = DEFAULT.rules) -> None:
        self._store, self._clock = store, clock
        self._relates_preemptors = rules.relates_preemptors
        self._kind = store.kinds.served("v1", "Event")
        self._series: dict[_Key, _Series] = {}
        self._prepared: dict[_Key, PreparedCreate] = {}
        """By type, action, reason, profile and namespace: the events that differ in pod, note and time."""
        self._numbers = count()
        self._started = clock.now()
        self._period = 0
        self._timer: Timer | None = None

    def close(self) -> None:
        """Forget all series: the scheduler stops."""
        self._series.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def scheduled(self, pod: PodInfo, node: str, profile: str) -> None:
        """`pod` is as it was when its attempt began."""
        note = f"Successfully assigned {pod.namespace}/{pod.name} to {node}"
        self._report(pod, "Normal", "Scheduled", "Binding", note, profile)

    def failed(self, pod: PodInfo, message: str, profile: str) -> None:
        self._report(pod, "Warning", "FailedScheduling", "Scheduling", _cut(message), profile)

    def preempted(self, victim: PodInfo, by: PodInfo, node: str, profile: str, *, in_memory: bool = False) -> None:
        """Newer versions pass a wrapper of the preemptor, of which no reference is made: `related` is missing."""
        note = f"Preempted by pod {by.uid} on node {node}"
        if self._relates_preemptors:
            self._report(victim, "Normal", "Preempted", "Preempting", note, profile, by)
            return
        note += " (in kube-scheduler memory)." if in_memory else ""
        self._report(victim, "Normal", "Preempted", "Preempting", note, profile)

    def report(self, pod: PodInfo, type: str, reason: str, action: str, note: str, profile: str) -> None:
        """An Event of a plugin."""
        self._report(pod, type, reason, action, note, profile)

    def _report(
        self, pod: PodInfo, type: str, reason: str, action: str, note: str, profile: str, related: PodInfo | None = None
    ) -> None:
        now = self._clock.now()
        key = (type, action, reason, profile, pod.namespace, pod.name, pod.uid, pod.resource_version)
        series = self._series.get(key)
        if series is not None:
            series.count += 1
            series.last = now
            if series.count == 2:
                self._write(key, series)
            return
        name = f"{pod.name}.{now * 1000 + next(self._numbers):x}"
        series = self._series[key] = _Series(name, note, now, related)
        self._create(key, series)
        self._arm()

    def _create(self, key: _Key, series: _Series) -> None:
        *_, name, uid, version = key
        values = (name, uid, version, series.note, to_micro_time(series.first))
        prepared = self._prepared.get(key[:5]) if series.count == 1 and series.related is None else None
        try:
            if prepared is None or self._store.create_prepared(prepared, series.name, values, writer=WRITER) is None:
                self._create_whole(key, series)
        except StatusError:
            # As upstream: an event that the API refuses (its namespace is going) is not worth a failure.
            return

    def _create_whole(self, key: _Key, series: _Series) -> None:
        type, action, reason, profile, *pod = key
        namespace = pod[0]
        document: Document = {
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": {"name": series.name, "namespace": namespace},
            "involvedObject": _reference(*pod),
            "reason": reason,
            "message": series.note,
            "source": {},
            "firstTimestamp": None,
            "lastTimestamp": None,
            "type": type,
            "eventTime": to_micro_time(series.first),
            "action": action,
            "reportingComponent": profile,
            "reportingInstance": f"{profile}-seatrial",
        }
        if series.count > 1:
            document["series"] = _counted(series)
        if series.related is not None:
            other = series.related
            document["related"] = _reference(other.namespace, other.name, other.uid, other.resource_version)
        elif series.count == 1:
            self._prepare(key[:5], document)
        self._store.create(self._kind, document, writer=WRITER, namespace=namespace, options=_TRUSTED)

    def _prepare(self, alike: _Key, document: Document) -> None:
        """Keep what events that differ in pod, note and time have in common."""
        prepared = self._store.prepare_create(self._kind, document, alike[-1], _TRUSTED)
        if prepared is not None:
            self._prepared[alike] = prepared

    def _write(self, key: _Key, series: _Series) -> None:
        def update(document: Document) -> None:
            document["series"] = _counted(series)

        try:
            self._store.modify(self._kind, series.name, update, writer=WRITER, namespace=key[4])
        except NotFound:
            self._create(key, series)
        except StatusError:
            return

    def _arm(self) -> None:
        """Series are looked at every six minutes of the scheduler's life, as long as there are any."""
        if self._timer is None and self._series:
            self._period = (self._clock.now() - self._started) // FINISH_PERIOD + 1
            self._timer = self._clock.when_passing(self._started + self._period * FINISH_PERIOD, self._on_period)

    def _on_period(self) -> None:
        self._timer = None
        now = self._clock.now()
        for key, series in list(self._series.items()):
            if series.last < now - FINISH_PERIOD:
                if series.count > 1:
                    self._write(key, series)
                del self._series[key]
            elif series.count > 1 and self._period % REFRESH_EVERY == 0:
                self._write(key, series)
        self._arm()


def _reference(namespace: str, name: str, uid: str, version: str) -> Document:
    return {
        "kind": "Pod",
        "namespace": namespace,
        "name": name,
        "uid": uid,
        "apiVersion": "v1",
        "resourceVersion": version,
    }


def _counted(series: _Series) -> Document:
    return {"count": series.count, "lastObservedTime": to_micro_time(series.last)}


def _cut(message: str) -> str:
    data = message.encode()
    if len(data) <= LONGEST_NOTE:
        return message
    return data[: LONGEST_NOTE - 4].decode(errors="ignore") + " ..."
