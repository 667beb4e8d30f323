"""An API server around one run, for the programs outside this process that take part in it.

The run goes on in virtual time as without a server. While only outside programs have work, nothing is done until one
of them has come to the end of its turn.
"""

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from seatrial.control_plane.outside_programs import Kubeconfigs
from seatrial.outside import Cooperation, MakeModel, OutsideControllers, launcher
from seatrial.server import Application, KubernetesApi, Metrics
from seatrial.server.auth import Certificates, Identities
from seatrial.server.serving import Listener, serving

if TYPE_CHECKING:
    from seatrial.outside import OutsideController
    from seatrial.scenario import ScenarioRun, SimulationOptions
    from seatrial.store import Store

LARGEST_REQUEST = 64 * 1024 * 1024
INTERRUPTED = "interrupted {}; the result is partial"


class HostedRun:
    """The server of one run; `folder` is for credentials, `logs` for the output of programs."""

    def __init__(
        self,
        store: "Store",
        controllers: "Sequence[OutsideController]",
        folder: Path,
        logs: Path,
        make_model: MakeModel | None = None,
    ) -> None:
        self._store = store
        self.controllers = OutsideControllers(controllers, launcher(self._place, logs), make_model)
        self.cooperation = Cooperation(self.controllers)
        self._certificates = Certificates.in_directory(folder / "pki")
        self._listener = Listener.on("127.0.0.1", 0, lambda port: self._certificates.context())
        self._identities = Identities()
        self._places = Kubeconfigs(self._identities, folder, self._listener.url, self._certificates.authority)

    def _place(self, controller: "OutsideController") -> Path:
        return self._places.place(controller)

    def add_to(self, options: "SimulationOptions") -> "SimulationOptions":
        """The options of a run in which the programs take part."""
        return replace(options, outside=self.controllers.makers(), observers=[self.cooperation])

    def drive(self, run: "ScenarioRun", tick: Callable[[], None]) -> None:
        """Run to the end; `tick` is called after every loop. Ctrl-C and SIGTERM end the run between two loops."""
        import uvloop

        with self._listener.socket, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._drive(run, tick))

    async def _drive(self, run: "ScenarioRun", tick: Callable[[], None]) -> None:
        api = KubernetesApi(self._store, self._identities, Metrics(), [self.controllers])
        routes = [self.cooperation.routes]
        application = Application(api, self._identities, Metrics(), routes, max_request_bytes=LARGEST_REQUEST)
        async with serving(application, self._listener, api.feeds.close):
            try:
                await self._run_loops(run, tick)
            finally:
                run.close()
                await asyncio.to_thread(self.controllers.wait_stopped)

    async def _run_loops(self, run: "ScenarioRun", tick: Callable[[], None]) -> None:
        wake = asyncio.Event()
        self.controllers.wake = wake.set
        interrupted: list[int] = []

        def interrupt(number: int) -> None:
            interrupted.append(number)
            wake.set()

        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupt, number)
        unsubscribe = self._store.subscribe(lambda change: wake.set())
        try:
            for _ in _loops(run, wake):
                tick()
                if interrupted:
                    where = "before the first step" if run.status.major is None else f"in step {run.status.major}"
                    run.fail(INTERRUPTED.format(where))
                    return
                if run.is_waiting:
                    await wake.wait()
                else:
                    await asyncio.sleep(0)
        finally:
            unsubscribe()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)


def _loops(run: "ScenarioRun", wake: asyncio.Event) -> Iterator[None]:
    """The loops of a run; what happens from the beginning of a loop on wakes the caller after it."""
    wake.clear()
    for _ in run.run():
        yield
        wake.clear()
