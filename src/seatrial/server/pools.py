"""Where long work is done: threads and processes, a bounded number for each sort of work.

Sorts do not share threads: a slow webhook makes requests wait that call webhooks, and no others.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from seatrial.server.worker_processes import WorkerProcesses
from seatrial.store.deferral import Awaited, Deferred, Isolated, Turn

OUTSIDE = {"webhook": 64, "conversion": 16}
"""Threads for calls of programs of the user's, by what they are for."""
PACKING = 2


class Pools:
    """The threads and processes of one server; each begins with the first work for it."""

    def __init__(self) -> None:
        self.long_work = ThreadPoolExecutor(1, thread_name_prefix="long-work")
        self.packing = ThreadPoolExecutor(PACKING, thread_name_prefix="gzip")
        self.isolated = WorkerProcesses()
        self._outside = {name: ThreadPoolExecutor(most, thread_name_prefix=name) for name, most in OUTSIDE.items()}

    async def finish(self, deferred: Deferred) -> None:
        """Do deferred work, or the work that it defers itself: the request is then made again."""
        try:
            if isinstance(deferred, Isolated):
                deferred.take(await self.isolated.run(deferred.job))
                return
            pool = self._outside[deferred.pool] if isinstance(deferred, Awaited) else self.long_work
            await asyncio.get_running_loop().run_in_executor(pool, deferred.work)
        except Deferred as more:
            await self.finish(more)

    def free(self, turn: Turn) -> None:
        """Free what a request has taken on another thread, as that may take long; a server that stops frees nothing."""
        with suppress(RuntimeError):
            self.long_work.submit(turn.release)

    def close(self) -> None:
        """End the processes, and begin no more work."""
        self.isolated.close()
        for pool in (self.long_work, self.packing, *self._outside.values()):
            pool.shutdown(wait=False, cancel_futures=True)
