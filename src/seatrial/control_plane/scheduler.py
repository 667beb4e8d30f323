"""The embedded kube-scheduler of `serve`: a worker of the server's loop, and the owner of its configuration."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from seatrial.control_plane.scheduler_configuration import load_or_refuse
from seatrial.model.defaults import GatedFields
from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest

if TYPE_CHECKING:
    from seatrial.clock import Clock
    from seatrial.scheduler import Decision, Recorder, Scheduler
    from seatrial.scheduler.config import Configuration
    from seatrial.scheduler.extender import InterruptibleAttempts
    from seatrial.store import Store

log = logging.getLogger("seatrial.scheduler")


class EmbeddedScheduler:
    """A scheduler on the server's own loop."""

    def __init__(self, scheduler: "Scheduler", plugins: Sequence[type], attempts: "InterruptibleAttempts") -> None:
        self.scheduler = scheduler
        self._plugins = plugins
        self._turns = attempts.turns
        self._attempts = attempts
        self._started = 0.0
        self._waiting: dict[str, float] = {}
        """When the attempts began that wait, by uid of the pod."""

    @classmethod
    def build(
        cls,
        store: "Store",
        clock: "Clock",
        chosen: tuple[Path | None, str, str],
        modules: Sequence[str],
        recorder: "Recorder | None" = None,
        arrivals: Mapping[str, int] | None = None,
    ) -> "EmbeddedScheduler":
        """A scheduler with what was chosen (file or None, feature gates, version) and the plugins of these modules."""
        from seatrial.scheduler import Scheduler
        from seatrial.scheduler.extender import HttpTransport, InterruptibleAttempts, Threads, Turns, TurnTransport
        from seatrial.scheduler.plugins import load_plugins

        plugins = load_plugins(modules)
        config, gates, version = chosen
        configuration = load_or_refuse(config, plugins, gates, version)
        store.gated_fields = GatedFields(configuration.gates)
        turns = Turns()
        scheduler = Scheduler(
            store, clock, configuration, recorder=recorder, plugins=plugins, background=Threads(), retries_errors=True,
            transport=TurnTransport(HttpTransport(), turns), stopwatch=time.perf_counter,
        )  # fmt: skip
        if arrivals:
            scheduler.order_arrivals(arrivals)
        for text in scheduler.warnings():
            log.warning("%s", text)
        scheduler.start()
        return cls(scheduler, plugins, InterruptibleAttempts(turns))

    def wake_by(self, wake: Callable[[], None]) -> None:
        """`wake` may be called on any thread when there is work again."""
        self._turns.on_answer = wake

    def has_work(self) -> bool:
        if self._turns.is_waiting:
            return self._turns.can_go_on
        return self.scheduler.has_work()

    def work(self) -> bool:
        """One attempt, or the part of it before an extender answers."""
        if not self._turns.is_waiting:
            self._started = time.perf_counter()
        decision = self._attempt() if self.scheduler.has_extenders else self.scheduler.schedule_one()
        if decision is None:
            return False
        self._measure(decision)
        return True

    def _measure(self, decision: "Decision") -> None:
        """Report how long an attempt took; one that waits goes on being measured."""
        if decision.outcome == "waiting":
            self._waiting.setdefault(decision.uid, self._started)
            return
        start = self._waiting.pop(decision.uid, self._started)
        self.scheduler.metrics.took(decision.profile, decision.outcome, time.perf_counter() - start)

    def _attempt(self) -> "Decision | None":
        """An attempt that gives its turn away while an extender works; None while it waits."""
        from seatrial.scheduler.extender import AwaitingAnswer

        made = self._attempts.run(self.scheduler, self.scheduler.schedule_one)
        return None if isinstance(made, AwaitingAnswer) else made

    def metrics(self) -> str:
        """What the scheduler has done so far, for /metrics."""
        return self.scheduler.metrics_text()

    def configuration(self) -> Document:
        """The KubeSchedulerConfiguration in force."""
        from seatrial.scheduler.config import written_document

        return written_document(self.scheduler.configuration)

    def expanded(self, configuration: Document) -> Document:
        """What a configuration would mean, with the plugins of every extension point."""
        from seatrial.scheduler.config import expanded_document

        with _refused_as_bad_request():
            return expanded_document(self._loaded(configuration))

    def restart(self, configuration: Document) -> None:
        """Go on with other profiles and extenders, as kube-scheduler-simulator does."""
        with _refused_as_bad_request():
            self.scheduler.reconfigure(self._loaded(configuration))

    def _loaded(self, configuration: Document) -> "Configuration":
        from seatrial.scheduler.config import load_configuration
        from seatrial.scheduler.plugins import known_points

        wanted = {key: configuration[key] for key in ("profiles", "extenders") if configuration.get(key)}
        head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        now, known = self.scheduler.configuration, known_points(self._plugins)
        return load_configuration(head | wanted, plugins=known, gates=now.switched, version=now.version)


@contextmanager
def _refused_as_bad_request() -> Iterator[None]:
    from seatrial.scheduler.config import ConfigurationError

    try:
        yield
    except ConfigurationError as error:
        raise BadRequest(f"{error.stage}: {error.message}") from error
