"""The server of `seatrial ui`: the application over a folder of runs, read-only and for this machine alone.

A browser lets any page send requests to a loopback address. A page elsewhere can neither read nor write: every answer
needs the cookie of the printed address (HttpOnly, SameSite=Strict), the Host must be a loopback name, requests of other
sites are refused, and nothing is ever written. The pages run no inline script and load nothing from elsewhere.
"""

import asyncio
import gzip
import secrets
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from functools import partial
from http.cookies import CookieError, SimpleCookie
from importlib import resources
from typing import Any
from urllib.parse import parse_qs, unquote

from seatrial.model.errors import ConfigError, NotFound
from seatrial.server import is_loopback
from seatrial.web.library import CLUSTER, LANES, SUMMARY, Library, binary, plain

COOKIE = "seatrial_ui"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
FILES = {"/": ("app.html", "text/html"), "/app.js": ("app.js", "text/javascript"), "/app.css": ("app.css", "text/css")}
API = "/ui/api/"
BINARY = "application/octet-stream"
JSON = "application/json"
COMPRESSED = 1_000
"""Shorter bodies are sent as they are."""

Scope = MutableMapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer."""

    status: int
    body: bytes = b""
    kind: str = "text/plain"
    more: tuple[tuple[str, str], ...] = ()


class RunPages:
    """The ASGI application; `token` opens it once and becomes a cookie."""

    def __init__(self, library: Library) -> None:
        self.token = secrets.token_urlsafe(24)
        self._session = secrets.token_urlsafe(24)
        self._is_token_used = False
        self._library = library
        self._lock = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        reply = await self._reply(scope, headers)
        body, more = reply.body, [*HEADERS.items(), *reply.more, ("content-type", f"{reply.kind}; charset=utf-8")]
        if len(body) > COMPRESSED and "gzip" in headers.get("accept-encoding", ""):
            body, more = await asyncio.to_thread(gzip.compress, body, 3), [*more, ("content-encoding", "gzip")]
        fields = [(name.encode(), value.encode()) for name, value in [*more, ("content-length", str(len(body)))]]
        await send({"type": "http.response.start", "status": reply.status, "headers": fields})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    async def _reply(self, scope: Scope, headers: dict[str, str]) -> Reply:
        why = _refusal(scope["method"], headers)
        if why is not None:
            return why
        path, query = scope["path"], parse_qs(scope["query_string"].decode("latin-1"))
        if path == "/" and "token" in query:
            return self._let_in(query["token"][0])
        if not self._is_known(headers.get("cookie", "")):
            return Reply(401, b"Open the address that seatrial ui has printed; it is good for one browser.\n")
        if path in FILES:
            name, kind = FILES[path]
            return Reply(200, (resources.files("seatrial.web") / "page" / "app" / name).read_bytes(), kind)
        if not path.startswith(API):
            return Reply(404, b"there is no such page\n")
        try:
            read = self._route(path.removeprefix(API), query)
            async with self._lock:  # a run works out its columns once, on first use
                kind, body = await asyncio.to_thread(read)
            return Reply(200, body, kind)
        except (NotFound, ConfigError, ValueError) as error:
            return Reply(404 if isinstance(error, NotFound) else 400, f"{error}\n".encode())

    def _let_in(self, token: str) -> Reply:
        if self._is_token_used or not secrets.compare_digest(token.encode(), self.token.encode()):
            return Reply(401, b"This address was used already or is wrong. Start seatrial ui again for another.\n")
        self._is_token_used = True
        cookie = f"{COOKIE}={self._session}; Path=/; HttpOnly; SameSite=Strict"
        return Reply(303, more=(("set-cookie", cookie), ("location", "/")))

    def _is_known(self, header: str) -> bool:
        try:
            found = SimpleCookie(header).get(COOKIE)
        except CookieError:
            return False
        return found is not None and secrets.compare_digest(found.value.encode(), self._session.encode())

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
    is_opened = (
        headers.get("sec-fetch-mode", "navigate") == "navigate" and headers.get("sec-fetch-dest", "") != "iframe"
    )
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not is_opened:
        return Reply(403, b"A page of another site may not read this.\n")
    origin = headers.get("origin", "")
    if origin and origin.partition("://")[2] != headers.get("host", ""):
        return Reply(403, b"A page of another origin may not read this.\n")
    return None
