"""A client that speaks to the application without a socket, for tests of what the server answers."""

import asyncio
import json
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from seatrial.clock.virtual import Clock
from seatrial.control_plane.bootstrap import bootstrap
from seatrial.model.builtin import builtin_kinds
from seatrial.model.protobuf import MAGIC, decode_protobuf
from seatrial.scenario.cluster import furnish
from seatrial.server.api import KubernetesApi
from seatrial.server.application import Application
from seatrial.server.auth.authentication import ADMIN, Identities
from seatrial.server.authorization.escalation import EscalationCheck
from seatrial.server.authorization.rbac import RbacAuthorizer
from seatrial.server.metrics import Metrics
from seatrial.store.admission.chain import StandardAdmission
from seatrial.store.store import Store

TOKEN = "secret"


@dataclass
class Reply:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def json(self) -> Any:
        return decode_protobuf(self.body) if self.body.startswith(MAGIC) else json.loads(self.body)

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key == name), "")


class Server:
    """An application on a fresh store, and the requests of one client to it."""

    def __init__(self, **settings: Any) -> None:
        self.store = Store(builtin_kinds(), Clock(), admission=StandardAdmission())
        self.identities = Identities(b"key")
        self.identities.add(TOKEN, ADMIN)
        self.metrics = Metrics()
        furnish(self.store)
        self.authorizer = authorizer = self._authorize() if settings.pop("rbac", False) else None
        self.api = KubernetesApi(
            self.store, self.identities, self.metrics, settings.pop("gates", ()), authorizer=authorizer
        )
        settings.setdefault("max_request_bytes", 1 << 20)
        self.application = Application(self.api, self.identities, self.metrics, authorizer=authorizer, **settings)

    def _authorize(self) -> RbacAuthorizer:
        """Evaluate RBAC, with the default roles and bindings."""
        bootstrap(self.store)
        authorizer = RbacAuthorizer(self.store)
        self.store.admission = EscalationCheck(self.store.admission, authorizer)
        return authorizer

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        """One request; a body that is not bytes is sent as JSON."""
        return asyncio.run(self.send(method, path, body, **headers))

    async def send(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        messages: list[MutableMapping[str, Any]] = []
        gone = asyncio.Event()

        async def send(message: MutableMapping[str, Any]) -> None:
            messages.append(message)

        await self.application(_scope(method, path, body, headers), _receiver(body, gone), send)
        start = messages[0]
        data = b"".join(m.get("body", b"") for m in messages[1:])
        return Reply(start["status"], [(k.decode(), v.decode()) for k, v in start["headers"]], data)

    @asynccontextmanager
    async def watch(self, path: str, **headers: str) -> "AsyncIterator[Watcher]":
        """An open watch."""
        watcher = Watcher()
        task = asyncio.ensure_future(
            self.application(_scope("GET", path, None, headers), _receiver(None, watcher.gone), watcher.take)
        )
        await watcher.open.wait()
        try:
            yield watcher
        finally:
            watcher.gone.set()
            await asyncio.wait_for(task, 5)


class Watcher:
    """What a watch has received so far."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        self.open = asyncio.Event()
        self.status = 0
        self.ended = False
        self._buffer = b""
        self._news = asyncio.Event()
        self.held = asyncio.Event()
        self.held.set()

    async def take(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.open.set()
            return
        await self.held.wait()
        self._buffer += message.get("body", b"")
        self.ended = not message.get("more_body", False)
        self._news.set()

    async def next(self, seconds: float = 5) -> Any:
        """The next event; None when the stream has ended."""
        async with asyncio.timeout(seconds):
            while b"\n" not in self._buffer:
                if self.ended:
                    return None
                self._news.clear()
                await self._news.wait()
        line, self._buffer = self._buffer.split(b"\n", 1)
        return json.loads(line)

    async def some(self, number: int) -> list[Any]:
        return [await self.next() for _ in range(number)]


def _scope(method: str, path: str, body: Any, headers: dict[str, str]) -> dict[str, Any]:
    plain, _, query = path.partition("?")
    fields = {"authorization": f"Bearer {TOKEN}"} | {k.replace("_", "-"): v for k, v in headers.items()}
    if body is not None:
        fields.setdefault("content-type", "application/json")
        fields.setdefault("content-length", str(len(_encoded(body))))
    return {
        "type": "http",
        "method": method,
        "path": plain,
        "raw_path": plain.encode(),
        "query_string": query.encode(),
        "headers": [(k.encode(), v.encode()) for k, v in fields.items() if v],
    }


def _receiver(body: Any, gone: asyncio.Event) -> Any:
    sent = False

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if not sent and body is not None:
            sent = True
            return {"type": "http.request", "body": _encoded(body), "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    return receive


def _encoded(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()
