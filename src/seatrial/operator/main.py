"""`seatrial operator`: kopf watches the objects, a work queue calls the controllers.

Handlers only add keys to the queue: kopf's own handlers of changes would write annotations and finalizers into the
user's objects, and an object with a finalizer cannot be deleted when the operator is gone.
"""

import asyncio
import logging
import os
import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import aiohttp
import kopf
import yaml

from seatrial.model.errors import ConfigError
from seatrial.operator.api_client import ApiClient, ApiError
from seatrial.operator.kinds import IMAGE
from seatrial.operator.metrics import OperatorMetrics, serve_metrics
from seatrial.operator.outcome import Deadlines
from seatrial.operator.pods import RUNNER, UID_LABEL
from seatrial.operator.simulation_controller import SimulationController
from seatrial.operator.simulator_controller import SimulatorController
from seatrial.operator.work_queue import WorkQueue
from seatrial.scenario.spec.kind import GROUP

WORKERS = 8
INSTALL = "install the CustomResourceDefinitions: seatrial operator manifests | kubectl apply -f -"
VERSION = "v1alpha1"
SIMULATION, SIMULATOR = "SchedulerSimulation", "Simulator"


@dataclass(frozen=True, slots=True)
class Options:
    """Options of `seatrial operator`."""

    namespaces: tuple[str, ...] = ()
    """Where objects are served; empty: in all namespaces."""
    image: str = IMAGE
    etcd_image: str = ""
    deadlines: Deadlines = field(default_factory=Deadlines)
    liveness: str | None = None
    metrics_port: int = 0


class Key(NamedTuple):
    """An object that needs work."""

    kind: str
    namespace: str
    name: str


class Operator:
    """The controllers with their queue, and the kopf handlers that fill it."""

    def __init__(self, options: Options) -> None:
        self.registry = kopf.OperatorRegistry()
        self.settings = kopf.OperatorSettings()
        self.settings.posting.enabled = False
        self.settings.scanning.disabled = True
        self.settings.watching.label_selectors["", "v1", "pods"] = UID_LABEL
        self._api = ApiClient(self._login)
        self.metrics = OperatorMetrics(self._api, options.namespaces)
        self._simulations = SimulationController(self._api, _now, options.image, options.deadlines)
        self._simulators = SimulatorController(self._api, options.image, options.etcd_image)
        self._queue: WorkQueue[Key] | None = None
        self._workers: list[asyncio.Task[None]] = []
        self._register()

    async def check_definitions(self) -> None:
        """ConfigError where the cluster cannot be reached or does not serve the two kinds."""
        try:
            served = await self._api.resources(f"{GROUP}/{VERSION}")
        except ApiError as error:
            raise ConfigError("", "--kubeconfig", str(error)) from error
        finally:
            await self._api.close()
        if not {"simulators", "schedulersimulations"} <= served:
            raise ConfigError("", "cluster", f"{GROUP}/{VERSION} is not served; {INSTALL}")

    def _register(self) -> None:
        registry = self.registry
        kopf.on.login(registry=registry)(self._kopf_login)
        kopf.on.startup(registry=registry)(self._start)
        kopf.on.cleanup(registry=registry)(self._stop)
        kopf.on.event(GROUP, VERSION, "schedulersimulations", registry=registry)(self._simulation_changed)
        kopf.on.event(GROUP, VERSION, "simulators", registry=registry)(self._simulator_changed)
        kopf.on.event("", "v1", "pods", registry=registry)(self._pod_changed)

    def _login(self) -> kopf.ConnectionInfo:
        """Credentials of the kubeconfig that was named, else of the Pod's service account, else of the user's."""
        ways = (kopf.login_with_service_account, kopf.login_with_kubeconfig)
        for way in reversed(ways) if os.environ.get("KUBECONFIG") else ways:
            try:
                info = way(settings=self.settings)
            except (kopf.LoginError, yaml.YAMLError, LookupError, TypeError, AttributeError, ValueError) as error:
                path = os.environ.get("KUBECONFIG", "~/.kube/config")
                raise ConfigError(path, "", f"not a kubeconfig: {' '.join(str(error).split())}") from error
            if info is not None:
                return info
        raise ConfigError("", "--kubeconfig", "no cluster: neither a kubeconfig nor a service account was found")

    async def _kopf_login(self, **_: Any) -> kopf.ConnectionInfo:
        return self._login()

    async def _start(self, **_: Any) -> None:
        self._queue = WorkQueue(self._reconcile)
        self._workers = [asyncio.create_task(self._queue.serve()) for _ in range(WORKERS)]

    async def _stop(self, **_: Any) -> None:
        for worker in self._workers:
            worker.cancel()
        if self._queue is not None:
            self._queue.close()
        await self._api.close()

    async def _reconcile(self, key: Key) -> float | None:
        controller = self._simulations if key.kind == SIMULATION else self._simulators
        return await self.metrics.measure(key.kind.lower(), controller.reconcile(key.namespace, key.name))

    async def _simulation_changed(self, namespace: str | None, name: str, **_: Any) -> None:
        self._add(SIMULATION, namespace, name)

    async def _simulator_changed(self, namespace: str | None, name: str, meta: Any, **_: Any) -> None:
        self._add(SIMULATOR, namespace, name)
        for reference in meta.get("ownerReferences") or ():
            if reference["kind"] == SIMULATION:
                self._add(SIMULATION, namespace, reference["name"])

    async def _pod_changed(self, namespace: str | None, meta: Any, spec: Any, **_: Any) -> None:
        for reference in meta.get("ownerReferences") or ():
            if reference["kind"] == SIMULATOR:
                self._add(SIMULATOR, namespace, reference["name"])
                if any(container["name"] == RUNNER for container in spec.get("containers") or ()):
                    self._add(SIMULATION, namespace, reference["name"])

    def _add(self, kind: str, namespace: str | None, name: str) -> None:
        if self._queue is not None and namespace is not None:
            self._queue.add(Key(kind, namespace, name))


def run(options: Options, *, verbose: bool = False) -> None:
    """Run the operator until SIGTERM."""
    logging.basicConfig(
        level=logging.DEBUG if verbose else logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    # One line for each event that adds a key says nothing; the controllers say what they do.
    logging.getLogger("kopf.objects").setLevel(logging.DEBUG if verbose else logging.WARNING)
    operator = Operator(options)

    async def serve() -> None:
        await operator.check_definitions()
        async with serve_metrics(operator.metrics, options.metrics_port):
            await kopf.operator(
                registry=operator.registry,
                settings=operator.settings,
                standalone=True,
                clusterwide=not options.namespaces,
                namespaces=options.namespaces,
                liveness_endpoint=options.liveness,
            )

    try:
        asyncio.run(serve())
    except (kopf.PermanentError, aiohttp.ClientError) as error:
        raise ConfigError("", "cluster", str(error)) from error


def _now() -> int:
    """Microseconds since the epoch, as `model.times` counts."""
    return time.time_ns() // 1000
