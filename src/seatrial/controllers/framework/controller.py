"""The base of all controllers: a work queue that the store's changes fill, synced one key at a time.

Controllers are cooperative. Nothing runs in the background, so "converged" is a fact: no controller has work.
A sync that the API refuses (a quota, a terminating namespace) is retried when a relevant object changes, and after
upstream's exponential back-off where the scenario lets that much time pass.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import ClassVar, Protocol

from seatrial.clock import Clock, Timer
from seatrial.controllers.framework.events import EventRecorder, EventType
from seatrial.controllers.framework.kubelet import Kubelet
from seatrial.controllers.framework.pod_index import PodIndex
from seatrial.model.documents import Document
from seatrial.model.errors import StatusError
from seatrial.model.kinds import Kind
from seatrial.model.times import MILLISECOND, SECOND
from seatrial.store import Change, Store

Key = tuple[str, str]
"""Namespace and name of the object that a controller looks after."""

Listener = Callable[[Change], None]

FIRST_RETRY = 5 * MILLISECOND
LAST_RETRY = 1000 * SECOND
ROOM_MAKERS = (("v1", "ResourceQuota"), ("v1", "LimitRange"), ("v1", "Namespace"), ("v1", "ServiceAccount"))
"""Kinds whose change may let a refused write through."""


class Controller(Protocol):
    """The interface of a controller."""

    @property
    def name(self) -> str: ...
    def start(self) -> None: ...
    def has_work(self) -> bool: ...
    def work(self) -> bool: ...
    def stop(self) -> None: ...
    def wait_condition(self) -> bool: ...

    def backlogs(self) -> Sequence[Sized]:
        """Containers that are all empty where nothing is left to do or to wait for; testing them costs no call."""


@dataclass(frozen=True, slots=True)
class Context:
    """The objects that all controllers of one cluster share."""

    store: Store
    clock: Clock
    pods: PodIndex
    kubelet: Kubelet | None = None
    """None in a run: stages alone decide what becomes of a bound pod."""
    events: EventRecorder | None = None
    """None in a run, where nothing reads events."""

    @property
    def is_live(self) -> bool:
        """Whether the cluster is one that clients talk to in real time."""
        return self.events is not None

    def kind(self, api_version: str, kind: str) -> Kind:
        return self.store.kinds.served(api_version, kind)


class QueueController:
    """A controller that works off keys, oldest first; a key waits in the queue at most once."""

    name: ClassVar[str]
    component: ClassVar[str] = ""
    """The source of its events; upstream's name of the controller."""
    reads_pods: ClassVar[bool] = True
    """Whether it reads the pod index of its context, which is kept only where a controller does."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.store = context.store
        self.clock = context.clock
        self._queue: OrderedDict[Key, None] = OrderedDict()
        self._refusals: dict[Key, int] = {}
        self._timers: dict[Key, Timer] = {}
        self._unsubscribe: list[Callable[[], None]] = []

    def watches(self) -> Mapping[Kind, Listener]:
        """The kinds that this controller watches, with the event handler of each."""
        raise NotImplementedError

    def owners(self) -> Iterable[Kind]:
        """The kinds whose objects are enqueued when the controller starts."""
        raise NotImplementedError

    def sync(self, key: Key) -> None:
        """Reconcile the object of this key."""
        raise NotImplementedError

    def start(self) -> None:
        if self.reads_pods:
            self.context.pods.start()
            self._unsubscribe.append(self.context.pods.stop)
        for kind, listener in self.watches().items():
            self._unsubscribe.append(self.store.subscribe(listener, [kind]))
        room_makers = [self.context.kind(*named) for named in ROOM_MAKERS]
        self._unsubscribe.append(self.store.subscribe(self._retry_refused, room_makers))
        for kind in self.owners():
            for stored in self.store.list(kind):
                self.enqueue((stored.namespace, stored.name))

    def stop(self) -> None:
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        for timer in self._timers.values():
            timer.cancel()
        self._unsubscribe.clear()
        self._timers.clear()
        self._queue.clear()
        self._refusals.clear()

    def has_work(self) -> bool:
        return bool(self._queue)

    def wait_condition(self) -> bool:
        """KEP-140's waiter: nothing is left to do in this state of the cluster."""
        return not self._queue

    def backlogs(self) -> Sequence[Sized]:
        """The queue; it is the same one as long as the controller lives."""
        return (self._queue,)

    def work(self) -> bool:
        """Sync the oldest key; False if the queue is empty."""
        if not self._queue:
            return False
        key, _ = self._queue.popitem(last=False)
        try:
            self.sync(key)
        except StatusError as refusal:
            self._refused(key, refusal)
        else:
            self._refusals.pop(key, None)
        return True

    def enqueue(self, key: Key) -> None:
        self._queue[key] = None

    def enqueue_after(self, key: Key, delay: int) -> None:
        """Enqueue the key when `delay` microseconds have passed; of several delays the earliest wins."""
        when = self.clock.now() + max(delay, 0)
        waiting = self._timers.get(key)
        if waiting is not None and not waiting.cancelled:
            if waiting.when <= when:
                return
            waiting.cancel()
        self._timers[key] = self.clock.at(when, lambda: self._due(key), outer=True)

    def enqueue_changed(self, change: Change) -> None:
        """The simplest event handler: enqueue the changed object."""
        self.enqueue((change.stored.namespace, change.stored.name))

    def record(self, kind: Kind, about: Document, reason: str, message: str, event_type: EventType = "Normal") -> None:
        """Write an event about an object, where events are written at all."""
        if self.context.events is not None:
            self.context.events.record(self.component or self.name, kind, about, event_type, reason, message)

    def _due(self, key: Key) -> None:
        self._timers.pop(key, None)
        self.enqueue(key)

    def _refused(self, key: Key, refusal: StatusError) -> None:
        if refusal.code == 404:
            return
        tries = self._refusals.get(key, 0)
        self._refusals[key] = tries + 1
        if refusal.code == 409 and refusal.reason == "Conflict":
            self.enqueue(key)
            return
        self.enqueue_after(key, min(FIRST_RETRY << min(tries, 40), LAST_RETRY))

    def _retry_refused(self, change: Change) -> None:
        for key in self._refusals:
            self.enqueue(key)


class Ensemble:
    """Several queue controllers that act as one."""

    name: ClassVar[str]
    parts: ClassVar[Sequence[type[QueueController]]]

    def __init__(self, context: Context) -> None:
        self._members = [part(context) for part in self.parts]
        self._turns = [(backlog, member) for member in self._members for backlog in member.backlogs()]

    def start(self) -> None:
        for member in self._members:
            member.start()

    def stop(self) -> None:
        for member in self._members:
            member.stop()

    def has_work(self) -> bool:
        return any(backlog and member.has_work() for backlog, member in self._turns)

    def wait_condition(self) -> bool:
        return not self.has_work()

    def backlogs(self) -> Sequence[Sized]:
        """Those of all members."""
        return [backlog for member in self._members for backlog in member.backlogs()]

    def work(self) -> bool:
        """One item of each member that has one."""
        worked = False
        for backlog, member in self._turns:
            if backlog:
                worked = member.work() or worked
        return worked
