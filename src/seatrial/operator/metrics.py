"""Metrics of the operator in Prometheus' text form: reconciliations, and objects by phase.

Reconciliations have the names, labels and buckets of controller-runtime (pkg/internal/controller/metrics). Phases are
counted in a list of the objects when the page is read: a count of watch events would keep what a watch missed.
"""

import logging
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

from aiohttp import web

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError
from seatrial.operator.api_client import SIMULATIONS, SIMULATORS, ApiClient, ApiError, Resource
from seatrial.operator.kinds import AVAILABLE, COMPLETED, CREATING, FAILED, PENDING
from seatrial.scheduler.metrics import Family
from seatrial.server import process_lines

RUNNING = "Running"
"""The phase shown of a SchedulerSimulation that has started and not ended; its status has none."""
PHASES = {SIMULATIONS: (PENDING, RUNNING, COMPLETED, FAILED), SIMULATORS: (PENDING, CREATING, AVAILABLE)}
CONTROLLERS = ("schedulersimulation", "simulator")
SUCCESS, ERROR, REQUEUE_AFTER = "success", "error", "requeue_after"
BUCKETS = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75,
    2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
)  # fmt: skip
log = logging.getLogger(__name__)


class OperatorMetrics:
    """The metrics of /metrics."""

    def __init__(self, api: ApiClient, namespaces: tuple[str, ...]) -> None:
        self._api, self._namespaces, self._started = api, namespaces or ("",), time.time()
        prefix, by = "controller_runtime_reconcile", ("controller",)
        self._total = Family(f"{prefix}_total", "counter", "Reconciliations by result.", (*by, "result"))
        self._errors = Family(f"{prefix}_errors_total", "counter", "Reconciliations that failed.", by)
        self._seconds = Family(f"{prefix}_time_seconds", "histogram", "Length of reconciliations.", by, BUCKETS)
        for controller in CONTROLLERS:
            self._errors.set(0, controller)
            for result in (SUCCESS, ERROR, REQUEUE_AFTER):
                self._total.set(0, controller, result)

    async def measure(self, controller: str, reconciliation: Awaitable[float | None]) -> float | None:
        """The result of a reconciliation, which is counted."""
        began, result = time.perf_counter(), ERROR
        try:
            again = await reconciliation
            result = SUCCESS if again is None else REQUEUE_AFTER
        finally:
            self._total.inc(controller, result)
            self._errors.inc(controller, by=result == ERROR)
            self._seconds.observe(time.perf_counter() - began, controller)
        return again

    async def page(self) -> str:
        """All metrics; phases only if the API server lists the objects."""
        families = [self._total, self._errors, self._seconds]
        try:
            families += [await self._phases(resource) for resource in PHASES]
        except ApiError as error:
            log.warning("no phases in /metrics: %s", error)
        lines = [line for family in families for line in family.lines()]
        return "\n".join(lines + process_lines(self._started)) + "\n"

    async def _phases(self, resource: Resource) -> Family:
        family = Family(f"seatrial_{resource.plural}", "gauge", f"Number of {resource.plural} by phase.", ("phase",))
        found = [each for namespace in self._namespaces for each in await self._api.items(resource, namespace)]
        counts = Counter(map(shown_phase, found))
        for phase in PHASES[resource]:
            family.set(counts[phase], phase)
        return family


def shown_phase(document: Document) -> str:
    """The phase of an object; of a SchedulerSimulation without one Pending or, once started, Running."""
    status = document.get("status") or {}
    return status.get("phase") or (RUNNING if status.get("startTime") else PENDING)


@asynccontextmanager
async def serve_metrics(metrics: OperatorMetrics, port: int) -> AsyncIterator[None]:
    """Answer /metrics at a port (0: nowhere), in a Pod on all addresses, else on loopback."""
    if port == 0:
        yield
        return

    async def answer(_: web.Request) -> web.Response:
        kind = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        return web.Response(body=(await metrics.page()).encode(), headers=kind)

    application = web.Application()
    application.router.add_get("/metrics", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        host = None if "KUBERNETES_SERVICE_HOST" in os.environ else "127.0.0.1"
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise ConfigError("", "--metrics-port", str(error)) from error
        yield
    finally:
        await runner.cleanup()
