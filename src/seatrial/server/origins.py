"""Checks the origin of requests to a server without tokens: a page of another origin must not be able to use it.

A browser lets any page send requests to a loopback address. Two checks keep them out: the Host must be a loopback
name, so that no name of another site can be pointed at this server (DNS rebinding), and a write must not come from
a page of another origin.
"""

import ipaddress
from collections.abc import Collection, MutableMapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from seatrial.model.errors import Forbidden
from seatrial.server.application import Receive, Send, Served, status_answer

READING = frozenset(("GET", "HEAD", "OPTIONS"))
HOSTS_KEPT = 64


@lru_cache(HOSTS_KEPT)
def is_loopback(host: str) -> bool:
    """Whether a Host header names this machine: localhost or an address that leads back."""
    name = _name(host)
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


class OriginCheck:
    """An application that refuses requests of pages elsewhere."""

    def __init__(self, application: Served, origins: Collection[str] = (), *, loopback_only: bool = True) -> None:
        """`origins` are those whose pages may write; `loopback_only` is for a server that listens on loopback."""
        self._application = application
        self._origins = frozenset(origins)
        self._loopback_only = loopback_only

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with 403."""
        why = self._refusal(scope.get("method", ""), dict(scope.get("headers") or ()))
        if not why:
            await self._application(scope, receive, send)
            return
        answer = status_answer(Forbidden(why))
        fields = [(b"content-type", b"application/json"), (b"content-length", str(len(answer.body)).encode())]
        await send({"type": "http.response.start", "status": answer.status, "headers": fields})
        await send({"type": "http.response.body", "body": answer.body})

    def _refusal(self, method: str, headers: dict[bytes, bytes]) -> str:
        host = headers.get(b"host", b"").decode("latin-1")
        if self._loopback_only and host and not is_loopback(host):
            return f"Host {host!r} is not a loopback name; a server without tokens answers no other"
        if method in READING:
            return ""
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and origin not in self._origins and origin.partition("://")[2] != host:
            return f"a page of {origin!r} may not write to a server without tokens"
        if not origin and headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            return "a page of another site may not write to a server without tokens"
        return ""
