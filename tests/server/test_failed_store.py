"""What a server answers while its writes are not on disk yet, and after one could not be made durable."""

import asyncio
from typing import Any

import pytest

from seatrial.model.errors import StatusError, StorageFailed
from seatrial.store.objects import Change
from tests.server.client import Server

MAPS = "/api/v1/namespaces/default/configmaps"


class Disk:
    """A journal whose commits are held back until they are let through or made to fail."""

    def __init__(self) -> None:
        self.failure: StatusError | None = None
        self._waiting: list[asyncio.Future[None]] = []
        self.is_slow = False

    def append(self, change: Change) -> None:
        if self.failure is not None:
            raise self.failure

    async def committed(self, revision: int) -> None:
        if self.failure is not None:
            raise self.failure
        if self.is_slow:
            self._waiting.append(asyncio.get_running_loop().create_future())
            await self._waiting[-1]

    async def written(self) -> None:
        return

    def succeed(self) -> None:
        self.is_slow = False
        for waiter in self._waiting:
            waiter.set_result(None)

    def fail(self) -> None:
        self.failure = StorageFailed("store.db: disk full")
        for waiter in self._waiting:
            waiter.set_exception(self.failure)


def served() -> tuple[Server, Disk]:
    async def durable() -> None:
        await server.store.committed(server.store.revision)

    server, disk = Server(durable=durable), Disk()
    server.store.attach_journal(disk)
    return server, disk


def body(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}}


READS = [("GET", MAPS), ("GET", f"{MAPS}/a"), ("GET", f"{MAPS}/missing"), ("POST", MAPS)]


@pytest.mark.parametrize(("method", "path"), READS)
def test_no_answer_is_sent_before_what_it_shows_is_durable(method: str, path: str) -> None:
    async def play() -> None:
        server, disk = served()
        disk.is_slow = True
        create = asyncio.ensure_future(server.send("POST", MAPS, body("a")))
        await asyncio.sleep(0.01)
        other = asyncio.ensure_future(server.send(method, path, body("a") if method == "POST" else None))
        await asyncio.sleep(0.01)
        assert not create.done()
        assert not other.done(), "the answer tells whether the write was made"
        assert (await server.send("GET", "/readyz")).status == 200
        disk.succeed()
        assert (await create).status == 201
        assert (await other).status in (200, 404, 409)

    asyncio.run(play())


def test_a_watcher_sees_a_write_when_it_is_durable() -> None:
    async def play() -> None:
        server, disk = served()
        async with server.watch(f"{MAPS}?watch=true") as watcher:
            disk.is_slow = True
            create = asyncio.ensure_future(server.send("POST", MAPS, body("a")))
            with pytest.raises(TimeoutError):
                await watcher.next(seconds=0.1)
            disk.succeed()
            await create
            assert (await watcher.next())["type"] == "ADDED"

    asyncio.run(play())


def test_a_write_that_cannot_be_made_durable_is_seen_by_nobody() -> None:
    async def play() -> None:
        server, disk = served()
        async with server.watch(f"{MAPS}?watch=true") as watcher:
            disk.is_slow = True
            create = asyncio.ensure_future(server.send("POST", MAPS, body("a")))
            await asyncio.sleep(0.05)
            disk.fail()
            answer = await create
            assert (answer.status, answer.json()["message"]) == (503, "store.db: disk full")
            assert (await watcher.next())["type"] == "ERROR"
            assert await watcher.next() is None
        for method, path in (*READS, ("DELETE", f"{MAPS}/a")):
            assert (await server.send(method, path, body("b") if method == "POST" else None)).status == 503
        for path in ("/version", "/metrics"):
            assert (await server.send("GET", path)).status == 200

    asyncio.run(play())


def test_readyz_names_the_cause() -> None:
    server, disk = served()
    assert server("GET", "/readyz").status == 200
    disk.failure = StorageFailed("store.db: disk full")
    for name in ("healthz", "livez", "readyz"):
        answer = server("GET", f"/{name}")
        assert answer.status == 500
        assert f"[-]store failed: store.db: disk full\n[+]workers ok\n{name} check failed\n".encode() in answer.body
