"""Volcano in `serve`: its kinds and webhooks, its controllers and its scheduler."""

import time
from typing import TYPE_CHECKING

import msgspec

from seatrial.model.times import parse_time
from seatrial.scheduler.extender import Abandoned, HttpTransport, Turns, TurnTransport
from seatrial.store import Change, Store, View
from seatrial.volcano.apis import SCHEDULER_NAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from seatrial.clock import Clock
    from seatrial.control_plane.components import Parts, Settings
    from seatrial.volcano import VolcanoScheduler


class _Meta(msgspec.Struct, rename="camel"):
    creation_timestamp: str | None = None


class _Spec(msgspec.Struct, rename="camel"):
    scheduler_name: str = ""


class _Pod(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: _Spec = msgspec.field(default_factory=_Spec)


_POD = View(_Pod)


def install_volcano(parts: "Parts") -> None:
    """Serve Volcano's kinds, before any object of them is loaded."""
    from seatrial.volcano.apis.installation import install

    install(parts.store)


def add_volcano(parts: "Parts", settings: "Settings") -> None:
    """Run vc-controller-manager and vc-scheduler on the server's loop."""
    from seatrial.controllers.framework import EventRecorder
    from seatrial.volcano import VolcanoScheduler
    from seatrial.volcano.config import read_conf
    from seatrial.volcano.controllers import build_controllers

    controllers = build_controllers(parts.store, parts.clock, EventRecorder(parts.store, parts.clock))
    measured = MeasuredScheduler(parts.store, parts.clock)
    conf = read_conf(settings.volcano_config, settings.volcano_version)
    measured.scheduler = VolcanoScheduler(
        parts.store,
        parts.clock,
        conf,
        on_session=measured.metrics.take,
        measures=measured.metrics,
        transport=measured.transport,
    )
    for worker in (controllers, measured):
        worker.start()
        parts.workers.append(worker)
    parts.metrics.append(measured.metrics.text)


class MeasuredScheduler:
    """The scheduler as a worker whose sessions are timed and counted, and give their turn away to wait for extenders.

    A session that waits goes on with its snapshot of the cluster; one whose scheduler was stopped is abandoned.
    """

    name = "volcano"
    scheduler: "VolcanoScheduler"

    def __init__(self, store: Store, clock: "Clock") -> None:
        from seatrial.volcano import VolcanoMetrics

        self._store = store
        self._turns = Turns()
        self._began = 0.0
        self.metrics = VolcanoMetrics(time.perf_counter, clock.now)
        self._unsubscribe: Callable[[], None] | None = None

    def transport(self) -> TurnTransport:
        """A connection to an extender."""
        return TurnTransport(HttpTransport(), self._turns)

    def wake_by(self, wake: "Callable[[], None]") -> None:
        """`wake` may be called on any thread when there is work again."""
        self._turns.on_answer = wake

    def start(self) -> None:
        """Start as upstream's does, with its two queues: a scenario takes all of them away."""
        from seatrial.volcano.apis.installation import create_queues

        create_queues(self._store)
        self._unsubscribe = self._store.subscribe(self._watched, [self._store.kinds.served("v1", "Pod")])
        self.scheduler.start()

    def stop(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        self._turns.abandon()
        self.scheduler.stop()

    def has_work(self) -> bool:
        return self._turns.can_go_on if self._turns.is_waiting else self.scheduler.has_work()

    def work(self) -> bool:
        """Run one session, or the part of it before an extender answers."""
        if not self._turns.is_waiting:
            self._began = time.perf_counter()
        if not self._session():
            return False
        self.metrics.observe("e2e_scheduling_latency_milliseconds", (time.perf_counter() - self._began) * 1000)
        return True

    def _session(self) -> bool:
        """Whether a session has come to its end."""
        if not self.scheduler.has_extenders:
            return self.scheduler.work()
        try:
            return self._turns.run(self.scheduler.work) is True
        except Abandoned:
            return False

    def _watched(self, change: Change) -> None:
        if change.type == "ADDED":
            pod = _POD.read(change.stored)
            if pod.spec.scheduler_name == SCHEDULER_NAME and pod.metadata.creation_timestamp:
                self.metrics.reached("Watched", parse_time(pod.metadata.creation_timestamp))
