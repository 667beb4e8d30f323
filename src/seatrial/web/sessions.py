"""Browser sessions: a one-time token in an address becomes a cookie, and pages of other origins are refused.

A browser lets any page send requests to any server, with that server's cookies. The cookie is HttpOnly and
SameSite=Strict, which keeps pages of other sites out. A port is no part of a site: another server on this machine is
kept out by the origin of each request, and its cookies by their names.
"""

import asyncio
import gzip
import secrets
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from importlib import resources
from typing import Any, Generic, TypeVar

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
COOKIE = "seatrial"
READING = ("GET", "HEAD")
ROOT = "/ui/"
KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
COMPRESSED = 1_000
"""Shorter bodies are sent as they are."""
MOST = 64
"""Sessions of one server at a time; the oldest ends when another begins."""

Scope = MutableMapping[str, Any]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer."""

    status: int
    body: bytes = b""
    kind: str = "text/plain"
    more: tuple[tuple[str, str], ...] = ()


class Sessions(Generic[Value]):
    """The sessions of one server; each has a value, such as its user. `token` begins the first one, once."""

    def __init__(self, first: Value) -> None:
        self.token = secrets.token_urlsafe(24)
        self._first = first
        self._is_token_used = False
        self._open: dict[str, Value] = {}

    def let_in(self, token: str, scope: Scope, headers: Mapping[str, str]) -> Reply | None:
        """The answer to the printed address: the page with a cookie; None where the token is wrong or used."""
        if self._is_token_used or not secrets.compare_digest(token.encode(), self.token.encode()):
            return None
        self._is_token_used = True
        return Reply(303, more=(("set-cookie", self.begin(self._first, scope, headers)), ("location", "/")))

    def begin(self, value: Value, scope: Scope, headers: Mapping[str, str]) -> str:
        """Begin a session; returns its cookie."""
        if len(self._open) >= MOST:
            del self._open[next(iter(self._open))]
        key = secrets.token_urlsafe(24)
        self._open[key] = value
        secure = "; Secure" if scope.get("scheme") == "https" else ""
        return f"{_cookie_name(headers)}={key}; Path=/; HttpOnly; SameSite=Strict{secure}"

    def end(self, headers: Mapping[str, str]) -> None:
        """End the session of a request."""
        self._open.pop(self._key(headers), None)

    def of(self, headers: Mapping[str, str]) -> Value | None:
        """The value of the session of a request; None where it has none."""
        return self._open.get(self._key(headers))

    def _key(self, headers: Mapping[str, str]) -> str:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(_cookie_name(headers))
        except CookieError:
            return ""
        return found.value if found is not None else ""


def _cookie_name(headers: Mapping[str, str]) -> str:
    """The name of the cookie: browsers send a cookie to every port of a host."""
    return f"{COOKIE}_{headers.get('host', '').rpartition(':')[2]}"


def foreign(method: str, headers: Mapping[str, str]) -> str:
    """Why a request is of a page of another origin, or of one that cannot be told from it; empty: it is not."""
    site, origin = headers.get("sec-fetch-site", ""), headers.get("origin", "")
    is_own = origin.partition("://")[2] == headers.get("host", "") if origin else site == "same-origin"
    if is_own and site in ("", "same-origin"):
        return ""
    if method not in READING:
        return "A page of another origin may not write here.\n"
    is_opened = (
        headers.get("sec-fetch-mode", "navigate") == "navigate" and headers.get("sec-fetch-dest", "") != "iframe"
    )
    if not origin and (site in ("", "none") or is_opened):
        return ""
    return "A page of another origin may not read this.\n"


async def send_reply(reply: Reply, scope: Scope, headers: Mapping[str, str], send: Any) -> None:
    """Send an answer, compressed where the browser takes it."""
    body, more = reply.body, [*HEADERS.items(), *reply.more, ("content-type", f"{reply.kind}; charset=utf-8")]
    if len(body) > COMPRESSED and "gzip" in headers.get("accept-encoding", ""):
        body, more = await asyncio.to_thread(gzip.compress, body, 3), [*more, ("content-encoding", "gzip")]
    fields = [(name.encode(), value.encode()) for name, value in [*more, ("content-length", str(len(body)))]]
    await send({"type": "http.response.start", "status": reply.status, "headers": fields})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def app_file(path: str) -> Reply | None:
    """A file of the built application; None where it has none of this path."""
    name = path.removeprefix(ROOT)
    kind = KINDS.get(name.rpartition(".")[2])
    if not path.startswith(ROOT) or kind is None or "/" in name:
        return None
    file = resources.files("seatrial.web") / "page" / "app" / name
    if not file.is_file():
        return None
    return Reply(200, file.read_bytes(), kind)
