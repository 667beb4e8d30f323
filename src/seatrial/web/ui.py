"""The server of `seatrial ui`: the application over a folder of runs, read-only and for this machine alone.

A browser lets any page send requests to a loopback address. A page elsewhere can neither read nor write: every answer
needs the cookie of the printed address (HttpOnly, SameSite=Strict), the Host must be a loopback name, requests of other
sites are refused, and nothing is ever written. The pages run no inline script and load nothing from elsewhere.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import parse_qs, unquote

from seatrial.model.errors import ConfigError, NotFound
from seatrial.server import is_loopback
from seatrial.web.library import CLUSTER, LANES, SUMMARY, Library, binary, plain
from seatrial.web.sessions import Reply, Scope, Sessions, app_file, foreign, send_reply

PAGE = "/ui/app.html"
API = "/ui/api/"
BINARY = "application/octet-stream"
JSON = "application/json"
USED = Reply(401, b"This address was used already or is wrong. Start seatrial ui again for another.\n")


class RunPages:
    """The ASGI application; `token` opens it once and becomes a cookie."""

    def __init__(self, library: Library) -> None:
        self._sessions = Sessions(True)
        self.token = self._sessions.token
        self._library = library
        self._lock = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        reply = await self._reply(scope, headers)
        await send_reply(reply, scope, headers, send)

    async def _reply(self, scope: Scope, headers: dict[str, str]) -> Reply:
        why = _refusal(scope["method"], headers)
        if why is not None:
            return why
        path, query = scope["path"], parse_qs(scope["query_string"].decode("latin-1"))
        if path == "/" and "token" in query:
            return self._sessions.let_in(query["token"][0], scope, headers) or USED
        if not self._sessions.of(headers):
            return Reply(401, b"Open the address that seatrial ui has printed; it is good for one browser.\n")
        if not path.startswith(API):
            return app_file(PAGE if path == "/" else path) or Reply(404, b"there is no such page\n")
        try:
            # As it was sent: a name may have an encoded slash, which `path` has decoded.
            read = self._route(scope["raw_path"].decode("latin-1").removeprefix(API), query)
            async with self._lock:  # a run works out its columns once, on first use
                kind, body = await asyncio.to_thread(read)
            return Reply(200, body, kind)
        except (NotFound, ConfigError, ValueError) as error:
            return Reply(404 if isinstance(error, NotFound) else 400, f"{error}\n".encode())

    def _route(self, path: str, query: dict[str, list[str]]) -> Callable[[], tuple[str, bytes]]:
        """What answers a path below the API: it is called in a thread."""
        library = self._library
        parts = [unquote(part) for part in path.split("/")]
        if parts == ["runs"]:
            return lambda: (JSON, plain(library.listed()))
        if parts == ["compare"]:
            return lambda: (JSON, plain(library.compared(query.get("run", []))))
        if len(parts) == 2 and parts[0] == "sweeps":
            return lambda: (JSON, plain(library.sweep(parts[1])))
        if parts[0] == "runs" and len(parts) in (3, 4):
            return partial(self._of_run, parts, query)
        raise NotFound(f"there is nothing at {path}")

    def _of_run(self, parts: list[str], query: dict[str, list[str]]) -> tuple[str, bytes]:
        run = self._library.open(parts[1])
        match parts[2:]:
            case ["summary"]:
                return JSON, plain(run.part(SUMMARY))
            case ["cluster"]:
                return BINARY, binary(run.part(CLUSTER))
            case ["lanes"]:
                return BINARY, binary(run.part(LANES))
            case ["attempts"]:
                first, last = (int(query.get(name, [default])[0]) for name, default in (("from", "0"), ("to", "50000")))
                return BINARY, binary(run.attempts(max(first, 0), max(last, 0)))
            case ["decisions", number]:
                return JSON, plain(run.decision(int(number)))
        raise NotFound(f"a run has no {parts[2]}")


def _refusal(method: str, headers: dict[str, str]) -> Reply | None:
    """Why a request is not answered; None: it is."""
    if not is_loopback(headers.get("host", "")):
        return Reply(403, b"This server answers to loopback names alone.\n")
    if method not in ("GET", "HEAD"):
        return Reply(405, b"Nothing can be written here.\n", more=(("allow", "GET, HEAD"),))
    why = foreign(method, headers)
    return Reply(403, why.encode()) if why else None
