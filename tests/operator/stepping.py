"""The operator in steps: its controllers against a store in this process, and a kubelet that is only told states."""

from typing import Any

from kopf import ConnectionInfo

from seatrial.controllers.registry import build_controllers
from seatrial.model.documents import decode
from seatrial.operator.api_client import ApiClient
from seatrial.operator.kinds import IMAGE, definitions
from seatrial.operator.outcome import Deadlines
from seatrial.operator.simulation_controller import SimulationController
from seatrial.operator.simulator_controller import SimulatorController
from seatrial.scenario.spec.kind import API_VERSION
from tests.server.client import Server

POD = "/api/v1/namespaces/default/pods/one"
MERGE = "application/merge-patch+json"


class Crash(Exception):
    """The operator is killed."""


def _no_login() -> ConnectionInfo:
    raise AssertionError("a direct client does not log in")


class DirectClient(ApiClient):
    """Sends requests to an application without a socket; it may be made to crash at one of them."""

    def __init__(self, server: Server) -> None:
        super().__init__(_no_login)
        self.requests = 0
        self.created: list[str] = []
        """Collections in which an object was created."""
        self.crash_at: tuple[int, str] | None = None
        """Number of the request, and whether the crash comes `before` or `after` it takes effect."""
        self._application = server

    async def _send(self, method: str, path: str, body: Any, kind: str) -> tuple[int, bytes]:
        self.requests += 1
        if self.crash_at == (self.requests, "before"):
            raise Crash
        reply = await self._application.send(method, path, body, **{"content-type": kind})
        if reply.status == 201:
            self.created.append(path.rpartition("/")[2])
        if self.crash_at == (self.requests, "after"):
            raise Crash
        return reply.status, reply.body


class Stepping:
    """A SchedulerSimulation `one` in the namespace default."""

    path = f"/apis/{API_VERSION}/namespaces/default/schedulersimulations/one"

    def __init__(self) -> None:
        self.server = Server()
        for definition in definitions():
            self._request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        self._collector = build_controllers(self.server.store, self.server.store.clock, ("garbagecollector",))
        for controller in self._collector:
            controller.start()

    def begin(self, document: dict[str, Any]) -> None:
        """Create the simulation, in place of a former one, and start the operator."""
        for path in (self.path, "/api/v1/namespaces/default/events"):
            self.server("DELETE", path)
        self._request("POST", self.path.removesuffix("/one"), document)
        self.client = DirectClient(self.server)
        self.start()

    def start(self) -> None:
        """Start the operator (again): it knows nothing."""
        self._simulations = SimulationController(self.client, lambda: 0, IMAGE, Deadlines(0, 0))
        self._simulators = SimulatorController(self.client, IMAGE, "")

    async def turn(self) -> None:
        """Everything that takes part does what it can."""
        await self._simulations.reconcile("default", "one")
        await self._simulators.reconcile("default", "one")

    async def settle(self) -> None:
        """What the rest of the cluster does meanwhile."""
        for controller in self._collector:
            while controller.has_work():
                controller.work()
        pod = await self._get(POD)
        if pod is None:
            return
        if "deletionTimestamp" in pod["metadata"]:
            await self.server.send("DELETE", POD, {"gracePeriodSeconds": 0})
            return
        states = (pod.get("status") or {}).get("containerStatuses")
        ended = {"terminated": {"exitCode": 0}} if states else {"running": {}}
        simulator = {"name": "simulator", "ready": True, "state": {"running": {}}}
        runner = {"name": "scenario-runner", "ready": not states, "state": ended}
        common = {"image": "", "imageID": "", "restartCount": 0}
        status = {"phase": "Running", "containerStatuses": [common | simulator, common | runner]}
        await self.server.send("PATCH", f"{POD}/status", {"status": status}, **{"content-type": MERGE})

    async def status(self) -> dict[str, Any]:
        return (await self._get(self.path) or {}).get("status") or {}

    async def _get(self, path: str) -> Any:
        reply = await self.server.send("GET", path)
        return decode(reply.body) if reply.status == 200 else None

    def _request(self, method: str, path: str, body: Any) -> None:
        reply = self.server(method, path, body)
        assert reply.status < 300, reply.body
