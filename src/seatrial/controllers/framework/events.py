"""Events that controllers write about objects: one object for each text, with a count.

A run writes none: they would only add revisions to its result. `serve` hands a recorder to its controllers.

Upstream: client-go/tools/record/events_cache.go: aggregation of similar events, counting of equal ones, and at most 25
events about an object by one source, then one in five minutes.
"""

from collections import OrderedDict
from typing import Literal

from seatrial.clock import Clock
from seatrial.model.documents import Document
from seatrial.model.errors import StatusError
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND, to_time
from seatrial.store import Store
from seatrial.store.options import CreateOptions

EventType = Literal["Normal", "Warning"]
LONGEST_MESSAGE = 1024
REMEMBERED = 4096
MOST_SIMILAR = 10
"""From how many different texts on one subject and reason are recorded as one event."""
SIMILAR_WITHIN = 600 * SECOND
BURST, REFILL = 25, 300 * SECOND
"""How many events one source writes about an object at once, and after how long it may write one more."""
COMBINED = "(combined from similar events): "
_TRUSTED = CreateOptions(trusted=True, owned=True)


class EventRecorder:
    """Writes events, and counts equal ones."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._kind = store.kinds.served("v1", "Event")
        self._names: OrderedDict[tuple[str, ...], str] = OrderedDict()
        self._similar: OrderedDict[tuple[str, ...], tuple[int, set[str]]] = OrderedDict()
        self._budgets: OrderedDict[tuple[str, ...], tuple[float, int]] = OrderedDict()
        """By source and object: how many more events may be written, and as of when."""
        self._latest = 0

    def record(
        self, component: str, kind: Kind, about: Document, event_type: EventType, reason: str, message: str
    ) -> None:
        """Write an event about an object, or count it once more."""
        meta = about["metadata"]
        namespace = meta.get("namespace") or "default"
        subject = (component, kind.api_version, kind.kind, namespace, meta["name"], meta.get("uid", ""))
        similar: tuple[str, ...] = (*subject, event_type, reason)
        text = message[:LONGEST_MESSAGE]
        key: tuple[str, ...] = (*similar, text)
        if self._is_one_of_many(similar, text):
            key, text = similar, (COMBINED + message)[:LONGEST_MESSAGE]
        if not self._may_write(subject):
            return
        try:
            known = self._names.get(key)
            if known is None or not self._counted(known, namespace, text):
                self._names[key] = self._create(component, kind, about, event_type, reason, text)
        except StatusError:
            return  # an event that is refused (its namespace is going) is not worth a failure
        self._names.move_to_end(key)
        while len(self._names) > REMEMBERED:
            self._names.popitem(last=False)

    def _may_write(self, subject: tuple[str, ...]) -> bool:
        now = self._clock.now()
        left, since = self._budgets.pop(subject, (float(BURST), now))
        left = min(float(BURST), left + (now - since) / REFILL)
        self._budgets[subject] = (left - 1 if left >= 1 else left), now
        while len(self._budgets) > REMEMBERED:
            self._budgets.popitem(last=False)
        return left >= 1

    def _is_one_of_many(self, similar: tuple[str, ...], text: str) -> bool:
        now = self._clock.now()
        last, texts = self._similar.pop(similar, (now, set()))
        if now - last > SIMILAR_WITHIN:
            texts = set()
        texts.add(text)
        self._similar[similar] = now, texts
        while len(self._similar) > REMEMBERED:
            self._similar.popitem(last=False)
        return len(texts) >= MOST_SIMILAR

    def _counted(self, name: str, namespace: str, text: str) -> bool:
        if self._store.find(self._kind, name, namespace) is None:
            return False

        def count(document: Document) -> None:
            document["count"] = int(document.get("count") or 1) + 1
            document["lastTimestamp"] = to_time(self._clock.now())
            document["message"] = text

        self._store.modify(self._kind, name, count, namespace=namespace, writer="events")
        return True

    def _create(
        self, component: str, kind: Kind, about: Document, event_type: EventType, reason: str, text: str
    ) -> str:
        meta, now = about["metadata"], self._clock.now()
        self._latest = max(now * 1000, self._latest + 1)
        name, namespace = f"{meta['name']}.{self._latest:x}", meta.get("namespace") or "default"
        involved: Document = {"kind": kind.kind, "apiVersion": kind.api_version}
        involved |= {key: meta[key] for key in ("namespace", "name", "uid", "resourceVersion") if meta.get(key)}
        event: Document = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": involved,
            "reason": reason,
            "message": text,
            "source": {"component": component},
            "firstTimestamp": to_time(now),
            "lastTimestamp": to_time(now),
            "count": 1,
            "type": event_type,
            "eventTime": None,
            "reportingComponent": component,
            "reportingInstance": "",
        }
        self._store.create(self._kind, event, namespace=namespace, writer="events", options=_TRUSTED)
        return name
