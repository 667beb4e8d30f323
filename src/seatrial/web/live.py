"""The application that `seatrial serve` has at `/`: the live cluster, over the Kubernetes API itself.

`LivePages` is an application around the API server. A browser's session is a user of that server, so roles and bindings
decide what the page can do; there is no second protocol. A request with credentials of its own goes on untouched.
"""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import msgspec

from seatrial.model.errors import Forbidden
from seatrial.server import CERTIFICATE_USER
from seatrial.server.auth import ADMIN
from seatrial.web.sessions import READING, Reply, Scope, Sessions, app_file, foreign, send_reply

if TYPE_CHECKING:
    from seatrial.server import Served
    from seatrial.server.auth import Identities
    from seatrial.store import User

PAGE = "/ui/live.html"
SESSION = "/ui/session"
LONGEST = 16 * 1024
"""Bytes of a sign-in."""
HTML = "text/html"
USED = Reply(401, b"This address was used already or is wrong. Sign in at / with a token, or start serve again.\n")


class SignIn(msgspec.Struct):
    """The body of a sign-in: a bearer token that the server knows."""

    token: str


class LivePages:
    """The ASGI application; `token` opens it once, as the administrator."""

    def __init__(self, application: "Served", identities: "Identities", origins: Collection[str] = ()) -> None:
        """`origins` are those whose pages may call the API with a client certificate (CORS)."""
        self._application = application
        self._identities = identities
        self._origins = frozenset(origins)
        self._sessions: Sessions[Callable[[], User | None]] = Sessions(lambda: ADMIN)
        self.token = self._sessions.token

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answer a request for the page, or pass a request on to the API as the user of its session."""
        if _is_of_a_program(scope):
            await self._application(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope.get("headers") or ()}
        if scope["type"] != "http" or "authorization" in headers:
            await self._application(scope, receive, send)
            return
        reply = await self._reply(scope, headers, receive)
        if reply is None:
            await self._application(scope, receive, send)
        else:
            await send_reply(reply, scope, headers, send)

    async def _reply(self, scope: Scope, headers: dict[str, str], receive: Any) -> Reply | None:
        """The answer of this application; None where the API answers."""
        method, path = scope["method"], scope["path"]
        if method in READING and path == "/" and HTML in headers.get("accept", ""):
            token = parse_qs(scope["query_string"].decode("latin-1")).get("token")
            return app_file(PAGE) if token is None else self._sessions.let_in(token[0], scope, headers) or USED
        if method in READING and (file := app_file(path)) is not None:
            return file
        session = self._sessions.of(headers)
        why = foreign(method, headers) if session or CERTIFICATE_USER in scope or path == SESSION else ""
        if why and headers.get("origin") not in self._origins:
            return Reply(403, msgspec.json.encode(Forbidden(why.strip()).status()), "application/json")
        if path == SESSION:
            return await self._sign(scope, headers, receive)
        user = session() if session is not None else None
        if user is not None:
            scope[CERTIFICATE_USER] = user
        return None

    async def _sign(self, scope: Scope, headers: dict[str, str], receive: Any) -> Reply:
        """Begin a session with a token of the server, or end one."""
        if scope["method"] == "DELETE":
            self._sessions.end(headers)
            return Reply(204)
        if scope["method"] != "POST":
            return Reply(405, b"POST signs in, DELETE signs out.\n", more=(("allow", "POST, DELETE"),))
        body, more = b"", True
        while more and len(body) <= LONGEST:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        try:
            token = msgspec.json.decode(body, type=SignIn).token
        except msgspec.MsgspecError:
            return Reply(400, b'expected {"token": "..."}\n')
        if not token or self._identities.user_of(token) is None:
            return Reply(401, b"The server knows no user of this token.\n")
        # The token is looked up at each request: it may expire, or its service account may go.
        cookie = self._sessions.begin(lambda: self._identities.user_of(token), scope, headers)
        return Reply(204, more=(("set-cookie", cookie),))


def _is_of_a_program(scope: Scope) -> bool:
    """Whether a request to the API has nothing that browsers send by themselves, as most requests have not."""
    if scope["type"] != "http" or not scope["path"].startswith("/api") or CERTIFICATE_USER in scope:
        return False
    return all(name != b"cookie" for name, _ in scope["headers"])
