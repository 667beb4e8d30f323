"""Volcano in `serve`: its kinds and webhooks, its controllers and its scheduler."""

import time
from typing import TYPE_CHECKING

from seatrial.scheduler.extender import Abandoned, HttpTransport, Turns, TurnTransport

if TYPE_CHECKING:
    from collections.abc import Callable

    from seatrial.control_plane.components import Parts, Settings
    from seatrial.store import Store
    from seatrial.volcano import VolcanoScheduler
    from seatrial.volcano.framework import Session, SessionResult

BUCKETS = (5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560)
"""Upper bounds of upstream's latency histogram, in milliseconds."""


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
    measured = MeasuredScheduler(parts.store)
    conf = read_conf(settings.volcano_config)
    measured.scheduler = VolcanoScheduler(
        parts.store, parts.clock, conf, on_session=measured.count, transport=measured.transport
    )
    for worker in (controllers, measured):
        worker.start()
        parts.workers.append(worker)
    parts.metrics.append(measured.metrics)


class MeasuredScheduler:
    """The scheduler as a worker whose sessions are timed and counted, and give their turn away to wait for extenders.

    A session that waits goes on with its snapshot of the cluster; one whose scheduler was stopped is abandoned.
    """

    name = "volcano"
    scheduler: "VolcanoScheduler"

    def __init__(self, store: "Store") -> None:
        self._store = store
        self._turns = Turns()
        self._began = 0.0
        self._took = [0] * (len(BUCKETS) + 1)
        self._total = 0.0
        self._scheduled = self._evicted = 0

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
        self.scheduler.start()

    def stop(self) -> None:
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
        took = (time.perf_counter() - self._began) * 1000
        self._total += took
        self._took[sum(took > bound for bound in BUCKETS)] += 1
        return True

    def _session(self) -> bool:
        """Whether a session has come to its end."""
        if not self.scheduler.has_extenders:
            return self.scheduler.work()
        try:
            return self._turns.run(self.scheduler.work) is True
        except Abandoned:
            return False

    def count(self, session: "Session", result: "SessionResult") -> None:
        """Count the decisions of a session."""
        self._scheduled += len(result.binds)
        self._evicted += len(result.evictions)

    def metrics(self) -> str:
        """Metrics by the names of upstream's pkg/scheduler/metrics."""
        name = "volcano_e2e_scheduling_latency_milliseconds"
        lines = [
            f"# HELP {name} E2e scheduling latency in milliseconds (scheduling algorithm + binding)",
            f"# TYPE {name} histogram",
        ]
        count = 0
        for bound, found in zip((*BUCKETS, "+Inf"), self._took, strict=True):
            count += found
            lines.append(f'{name}_bucket{{le="{bound}"}} {count}')
        lines += [
            f"{name}_sum {self._total}",
            f"{name}_count {count}",
            "# TYPE volcano_schedule_attempts_total counter",
            f'volcano_schedule_attempts_total{{result="scheduled"}} {self._scheduled}',
            "# TYPE volcano_pod_preemption_victims counter",
            f"volcano_pod_preemption_victims {self._evicted}",
        ]
        return "\n".join(lines) + "\n"
