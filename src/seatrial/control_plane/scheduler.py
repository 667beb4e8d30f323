"""The embedded kube-scheduler as `serve` runs it: a worker for the pump, and the owner of its configuration."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from seatrial.control_plane.scheduler_configuration import load_or_refuse
from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest

if TYPE_CHECKING:
    from seatrial.clock.virtual import Clock
    from seatrial.scheduler.schedule_one.recorder import Recorder
    from seatrial.store.store import Store


class EmbeddedScheduler:
    """A scheduler on the server's own loop."""

    def __init__(self, scheduler: "object", plugins: Sequence[type]) -> None:
        from seatrial.scheduler.scheduler import Scheduler

        assert isinstance(scheduler, Scheduler)
        self.scheduler = scheduler
        self._plugins = plugins

    @classmethod
    def build(
        cls,
        store: "Store",
        clock: "Clock",
        config: Path | None,
        gates: str,
        modules: Sequence[str],
        recorder: "Recorder | None" = None,
    ) -> "EmbeddedScheduler":
        """A scheduler with the configuration of a file, or the default one, and the plugins of these modules."""
        from seatrial.scheduler.extender.background import Threads
        from seatrial.scheduler.framework.out_of_tree import load_plugins
        from seatrial.scheduler.scheduler import Scheduler

        plugins = load_plugins(modules)
        configuration = load_or_refuse(config, plugins, gates)
        scheduler = Scheduler(
            store, clock, configuration, recorder=recorder, plugins=plugins, background=Threads(), tolerant=True
        )
        scheduler.start()
        return cls(scheduler, plugins)

    def has_work(self) -> bool:
        return self.scheduler.has_work()

    def work(self) -> bool:
        """One attempt."""
        start = time.perf_counter()
        decision = self.scheduler.schedule_one()
        if decision is None:
            return False
        self.scheduler.metrics.took(decision.profile, decision.outcome, time.perf_counter() - start)
        return True

    def metrics(self) -> str:
        """What the scheduler has done so far, for /metrics."""
        return self.scheduler.metrics_text()

    def configuration(self) -> Document:
        """The KubeSchedulerConfiguration in force."""
        from seatrial.scheduler.config.writing import written_document

        return written_document(self.scheduler.configuration)

    def restart(self, configuration: Document) -> None:
        """Go on with other profiles and extenders, as kube-scheduler-simulator does."""
        from seatrial.scheduler.config import ConfigurationError, load_configuration
        from seatrial.scheduler.framework.out_of_tree import known_points

        wanted = {key: configuration[key] for key in ("profiles", "extenders") if configuration.get(key)}
        head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        try:
            gates = dict.fromkeys(self.scheduler.configuration.gates, True)
            known = known_points(self._plugins)
            self.scheduler.reconfigure(load_configuration(head | wanted, plugins=known, gates=gates))
        except ConfigurationError as error:
            raise BadRequest(f"{error.stage}: {error.message}") from error
