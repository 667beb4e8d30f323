"""The API server around one run, for the programs outside this process that take part in it.

The run goes on in virtual time as without a server. While only outside programs have work, nothing is done until one
of them has come to the end of its turn.
"""

import asyncio
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from seatrial.outside import Cooperation, Kubeconfigs, OutsideControllers, launcher
from seatrial.server import Application, KubernetesApi, Metrics
from seatrial.server.auth import Certificates, Identities
from seatrial.server.serving import Listener, serving
from seatrial.simulation.loop import Tick, loops

if TYPE_CHECKING:
    from seatrial.outside import OutsideController, Program
    from seatrial.scenario import ScenarioRun, SimulationOptions
    from seatrial.store import Store

LARGEST_REQUEST = 64 * 1024 * 1024


class HostedRun:
    """The server of one run; `logs` is for the output of programs."""

    def __init__(
        self,
        store: "Store",
        controllers: "Sequence[OutsideController]",
        logs: Path | None = None,
        *,
        explain: bool = False,
    ) -> None:
        self._store, self._logs = store, logs
        self.controllers = OutsideControllers(controllers, self._launch, explain=explain)
        self._folder = tempfile.TemporaryDirectory(prefix="seatrial-outside-")
        folder = Path(self._folder.name)
        self.cooperation = Cooperation(self.controllers)
        self._certificates = Certificates.in_directory(folder / "pki")
        self._listener = Listener.on("127.0.0.1", 0, lambda port: self._certificates.context())
        self._identities = Identities()
        self._places = Kubeconfigs(self._identities, folder, self._listener.url, self._certificates.authority)

    def _launch(self, controller: "OutsideController", ended: Callable[[], None]) -> "Program":
        logs = self._logs or Path(self._folder.name) / "logs"
        return launcher(self._places.place, logs)(controller, ended)

    def add_to(self, options: "SimulationOptions") -> "SimulationOptions":
        """The options of a run in which the programs take part."""
        return replace(options, outside=self.controllers.makers(), observers=[self.cooperation, *options.observers])

    def drive(self, run: "ScenarioRun", tick: Tick, deadline: float = 0) -> None:
        """Run to the end. Ctrl-C and SIGTERM end the run between two loops.

        In a thread with an event loop, as that of a notebook, the run gets a thread of its own.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self._serve(run, tick, deadline)
            return
        with ThreadPoolExecutor(1) as pool:
            pool.submit(self._serve, run, tick, deadline).result()

    def _serve(self, run: "ScenarioRun", tick: Tick, deadline: float) -> None:
        import uvloop

        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(self._drive(run, tick, deadline))
        finally:
            self.close()

    def close(self) -> None:
        """Stop listening, and remove the credentials."""
        self._listener.socket.close()
        self._folder.cleanup()

    async def _drive(self, run: "ScenarioRun", tick: Tick, deadline: float) -> None:
        api = KubernetesApi(self._store, self._identities, Metrics(), [self.controllers])
        routes = [self.cooperation.routes]
        application = Application(api, self._identities, Metrics(), routes, max_request_bytes=LARGEST_REQUEST)
        async with serving(application, self._listener, api.feeds.close):
            try:
                await self._run_loops(run, tick, deadline)
            finally:
                run.close()
                await asyncio.to_thread(self.controllers.wait_stopped)

    async def _run_loops(self, run: "ScenarioRun", tick: Tick, deadline: float) -> None:
        wake = asyncio.Event()
        self.controllers.wake = wake.set
        unsubscribe = self._store.subscribe(lambda change: wake.set())
        try:
            with _signals(wake) as interrupted:
                turns = loops(run, tick, deadline, interrupted)
                # What happens from the beginning of a loop on wakes this function after it.
                wake.clear()
                for _ in turns:
                    if run.is_waiting:
                        await wake.wait()
                    else:
                        await asyncio.sleep(0)
                    wake.clear()
        finally:
            unsubscribe()


@contextmanager
def _signals(wake: asyncio.Event) -> Iterator[list[int]]:
    """The signals caught so far; only the main thread of a process can catch them."""
    caught: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield caught
        return

    def interrupt(number: int) -> None:
        caught.append(number)
        wake.set()

    loop, watched = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
    for number in watched:
        loop.add_signal_handler(number, interrupt, number)
    try:
        yield caught
    finally:
        for number in watched:
            loop.remove_signal_handler(number)
