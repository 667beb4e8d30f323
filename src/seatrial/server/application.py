"""The ASGI application: reads, authenticates and routes a request, and turns every failure into a Status."""

import asyncio
import contextlib
import logging
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol
from urllib.parse import unquote

import orjson

from seatrial.model.documents import encode
from seatrial.model.errors import BadRequest, NotFound, ServerTimeout, ServiceUnavailable, StatusError, TooLarge
from seatrial.model.protobuf import encode_protobuf
from seatrial.server.auth.authentication import Identities
from seatrial.server.auth.impersonation import impersonated
from seatrial.server.authorization.attributes import request_attributes
from seatrial.server.authorization.authorizer import AlwaysAllow, Authorizer, check
from seatrial.server.client_certificates import CERTIFICATE_USER
from seatrial.server.encoding.negotiation import JSON, PROTOBUF
from seatrial.server.extension_points import Endpoint, Routes
from seatrial.server.messages import Answer, Disconnected, Request, Stream, parse_query, wants_indented
from seatrial.server.metrics import Metrics
from seatrial.server.name_generator import new_uid
from seatrial.server.pools import Pools
from seatrial.store import User
from seatrial.store.deferral import BYTES_PER_VALUE, Deferred, Turn, short_turns

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Served = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]
"""An ASGI application, or one around another."""

SLOWEST_BODY = 60.0
"""Seconds a client may take to send its body."""
DISCARDING = 10.0
"""Seconds for which a refused body is still read."""
MAX_OBJECT_BYTES = 3 * 1024 * 1024
"""Bytes of the body of a request about an object, as kube-apiserver has it (MaxRequestBodyBytes)."""
LARGE_BODIES = ("/apis/simulation.kube-scheduler-simulator.x-k8s.io/",)
"""Kinds whose objects may be as large as the server allows: a Scenario carries a cluster, and what became of it."""
INDENTED = (b"{\n", b"[\n")
"""How indented JSON begins, after which upstream writes no newline."""
ATTEMPTS = 64
"""How often a request is retried after its deferred work is done."""
COMPRESS_FROM = 128 * 1024
"""Bytes from which an answer is compressed for a client that accepts it, as upstream."""
CHUNK = 256 * 1024
STATELESS = frozenset(("healthz", "livez", "readyz", "metrics", "version"))
"""First parts of the paths that show nothing of what is stored."""
READYZ = "/readyz"
DEEPER_THAN_ENCODED = "Recursion limit reached"
"""orjson's message for a document with more than 254 levels; it has no exception of its own for it."""

log = logging.getLogger("seatrial.server")


class Api(Protocol):
    """Routes the paths of the Kubernetes API."""

    def find(self, method: str, path: str) -> Endpoint | None:
        """The endpoint for this request; None if no endpoint serves it."""


class Application:
    """One server: identities, routes handed in, and the Kubernetes API.

    `durable` returns when everything written so far will survive a crash. No answer is sent before, since what was
    read may show another client's write; an error may do that too.
    """

    def __init__(
        self,
        api: Api,
        identities: Identities,
        metrics: Metrics,
        routes: Sequence[Routes] = (),
        *,
        max_request_bytes: int,
        authorizer: Authorizer | None = None,
        durable: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._api = api
        self._identities = identities
        self._authorizer = authorizer or AlwaysAllow()
        self._routes = tuple(routes)
        self._max_request_bytes = max_request_bytes
        self._durable = durable
        self._metrics = metrics
        self.pools = Pools()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        path = _path(scope)
        request: Request | None = None
        try:
            query = parse_query(scope["query_string"])
            endpoint, user = self._find(scope, path, headers, query)
            body = await self._read(path, headers, receive)
            request = Request(scope["method"], path, query, headers, body, user, gone=partial(_gone, receive))
            answer = await self._answer(endpoint, request)
        except StatusError as error:
            in_protobuf = headers.get("accept", "").startswith(PROTOBUF)
            answer = status_answer(error, indented=_indents(scope, headers), in_protobuf=in_protobuf)
        except Disconnected:
            return
        except asyncio.CancelledError:
            # The server stops, and waits for nothing any more.
            path, answer = READYZ, _stopped()
        except Exception as error:
            if _is_too_deep(error):
                answer = status_answer(BadRequest("the object is nested too deeply"))
            else:
                log.exception("%s %s", scope["method"], path)
                answer = status_answer(StatusError("an error of the server itself; its log has the traceback"))
        warnings, head_only = request.warnings if request else (), scope["method"] == "HEAD"
        reply = Reply(headers, warnings, receive, send, head_only, self.pools.packing)
        with contextlib.suppress(asyncio.CancelledError):
            try:
                answer = await self._once_durable(path, answer)
            except asyncio.CancelledError:
                answer = _stopped()
            self._metrics.count(scope["method"], answer.status)
            await reply.send(answer)

    async def _once_durable(self, path: str, answer: Answer | Stream) -> Answer | Stream:
        """The answer, once everything that it may show is durable; the cause where that cannot be."""
        if self._durable is None or path.strip("/").split("/")[0] in STATELESS:
            return answer
        try:
            await self._durable()
        except StatusError as error:
            if isinstance(answer, Stream) and answer.close is not None:
                answer.close()
            return status_answer(error)
        return answer

    def _find(
        self, scope: MutableMapping[str, Any], path: str, headers: dict[str, str], query: Mapping[str, str]
    ) -> tuple[Endpoint, User]:
        method = scope["method"]
        for routes in self._routes:
            route = routes.find(method, path)
            if route is not None:
                user = User("system:anonymous") if route.public else self._authorized_user(scope, path, headers, query)
                return route.endpoint, user
        user = self._authorized_user(scope, path, headers, query)
        endpoint = self._api.find(method, path)
        if endpoint is None:
            raise NotFound("the server could not find the requested resource", detailed=True)
        return endpoint, user

    def _authorized_user(
        self, scope: MutableMapping[str, Any], path: str, headers: dict[str, str], query: Mapping[str, str]
    ) -> User:
        """The user that the request acts as, once it is known to be allowed to make the request."""
        user = scope.get(CERTIFICATE_USER) or self._identities.authenticate(headers.get("authorization", ""))
        impersonates = "\nimpersonate-" in "\n".join(("", *headers))
        if user.is_privileged and not impersonates:
            return user
        attributes = request_attributes(user, scope["method"], path, query)
        if impersonates:
            other = impersonated(self._authorizer, attributes, scope["headers"])
            attributes = replace(attributes, user=other or user)
        check(self._authorizer, attributes)
        return attributes.user

    async def _answer(self, endpoint: Endpoint, request: Request) -> Answer | Stream:
        """Execute a request; work that would block all other requests is done elsewhere first."""
        turn = Turn(len(request.body), self._max_request_bytes // BYTES_PER_VALUE)
        warnings = len(request.warnings)
        loop = asyncio.get_running_loop()
        try:
            for _ in range(ATTEMPTS):
                del request.warnings[warnings:]
                try:
                    with short_turns(turn):
                        answer = await endpoint(request)
                    if isinstance(answer, Answer) and answer.encode is not None:
                        answer.body = await loop.run_in_executor(self.pools.long_work, answer.encode)
                    return answer
                except Deferred as deferred:
                    pending = deferred
                await self.pools.finish(pending)
            raise ServerTimeout("the object changed each time it was checked; try again")
        finally:
            if turn.taken:
                self.pools.free(turn)

    def _largest_body(self, path: str) -> int:
        """Bytes of a body: upstream's limit for objects, that of the server for scenarios and whole clusters."""
        if path.startswith(LARGE_BODIES) or any(routes.find("POST", path) for routes in self._routes):
            return self._max_request_bytes
        return min(self._max_request_bytes, MAX_OBJECT_BYTES)

    async def _read(self, path: str, headers: dict[str, str], receive: Receive) -> bytes:
        length = headers.get("content-length", "")
        if not length and "transfer-encoding" not in headers:
            return b""
        largest = self._max_request_bytes
        if not length.isdecimal() or int(length) > min(largest, MAX_OBJECT_BYTES):
            largest = self._largest_body(path)
            if length.isdecimal() and int(length) > largest:
                await _discard(headers, receive)
                raise _too_large(largest)
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        body: bytes = message.get("body", b"")
        if not message.get("more_body", False):
            return body
        try:
            async with asyncio.timeout(SLOWEST_BODY):
                return await self._read_rest([body], headers, receive, largest)
        except TimeoutError:
            raise ServerTimeout("the request body did not arrive in time") from None

    async def _read_rest(self, parts: list[bytes], headers: dict[str, str], receive: Receive, largest: int) -> bytes:
        size = len(parts[0])
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Disconnected
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > largest:
                await _discard(headers, receive)
                raise _too_large(largest)
            if not message.get("more_body", False):
                return b"".join(parts)


def _stopped() -> Answer:
    """The answer to a request that is cancelled, since the server stops; whether it was carried out is not known."""
    return status_answer(ServiceUnavailable("the server is shutting down"))


def _too_large(largest: int) -> TooLarge:
    return TooLarge(f"Request entity too large: limit is {largest}")


async def _discard(headers: dict[str, str], receive: Receive) -> None:
    """Drop the rest of a refused body where the connection closes with the answer, but not for ever.

    A connection that closes with unread bytes is reset, and its client never reads the answer. On one that stays open
    the answer goes out at once, and the protocol drops the rest as it arrives.
    """
    if headers.get("connection", "").lower() != "close":
        return
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DISCARDING):
            while (await receive()).get("more_body", False):
                pass


async def _gone(receive: Receive) -> None:
    """Wait until the client closes its connection; the body has been read."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _is_too_deep(error: Exception) -> bool:
    """Whether a document was nested deeper than it can be walked or encoded."""
    return isinstance(error, RecursionError) or (isinstance(error, TypeError) and str(error) == DEEPER_THAN_ENCODED)


def _indents(scope: MutableMapping[str, Any], headers: Mapping[str, str]) -> bool:
    try:
        return wants_indented(parse_query(scope["query_string"]), headers)
    except BadRequest:
        return False


def status_answer(error: StatusError, *, indented: bool = False, in_protobuf: bool = False) -> Answer:
    """An error as the answer that carries its Status."""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    if error.retry_after:
        headers = ((b"retry-after", str(error.retry_after).encode()),)
    document = error.status()
    if in_protobuf:
        return Answer(encode_protobuf(document), error.code, PROTOBUF, headers)
    body = orjson.dumps(document, option=orjson.OPT_INDENT_2) if indented else encode(document)
    return Answer(body, error.code, headers=headers)


def _path(scope: MutableMapping[str, Any]) -> str:
    raw: bytes | None = scope.get("raw_path")
    if raw is not None and b"%" in raw:
        # A slash that was escaped is part of a segment, which no name may have: it is kept escaped and not found.
        return unquote(raw.split(b"?")[0].decode("latin-1").replace("%2F", "%252F").replace("%2f", "%252f"))
    path: str = scope["path"]
    return path


@dataclass(slots=True)
class Reply:
    """The way back to the client of one request."""

    headers: Mapping[str, str]
    warnings: Sequence[str]
    receive: Receive
    send_message: Send
    head_only: bool
    packing: ThreadPoolExecutor

    async def send(self, answer: Answer | Stream) -> None:
        audit = self.headers.get("audit-id") or new_uid()
        fields: list[tuple[bytes, bytes]] = [
            (b"audit-id", audit.encode("latin-1")),
            (b"content-type", answer.content_type.encode()),
        ]
        if self.warnings:
            fields.extend((b"warning", _warning(text)) for text in self.warnings)
        gzip = "gzip" in self.headers.get("accept-encoding", "")
        if isinstance(answer, Answer):
            await self._send_whole(answer, fields, gzip)
        elif gzip and answer.compressible:
            fields.append((b"content-encoding", b"gzip"))
            await self._send_stream(answer, _compressed(answer.chunks), fields)
        else:
            await self._send_stream(answer, answer.chunks, fields)

    async def _send_whole(self, answer: Answer, fields: list[tuple[bytes, bytes]], gzip: bool) -> None:
        fields.extend(answer.headers)
        body = answer.body
        if body and answer.newline and answer.content_type == JSON and not body.startswith(INDENTED):
            body += b"\n"
        if gzip and len(body) >= COMPRESS_FROM:
            body = await asyncio.get_running_loop().run_in_executor(self.packing, _compress, body)
            fields.append((b"content-encoding", b"gzip"))
        fields.append((b"content-length", str(len(body)).encode()))
        await self.send_message({"type": "http.response.start", "status": answer.status, "headers": fields})
        await self.send_message({"type": "http.response.body", "body": b"" if self.head_only else body})

    async def _send_stream(
        self, answer: Stream, chunks: AsyncIterator[bytes], fields: list[tuple[bytes, bytes]]
    ) -> None:
        send = self.send_message
        await send({"type": "http.response.start", "status": answer.status, "headers": fields})
        # The head goes out with the first body message; a watch without events would leave its client waiting.
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        listening = asyncio.ensure_future(self._hear_end(answer)) if answer.close is not None else None
        try:
            async for chunk in chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            if listening is not None:
                listening.cancel()

    async def _hear_end(self, answer: Stream) -> None:
        await _gone(self.receive)
        if answer.close is not None:
            answer.close()


def _compress(body: bytes) -> bytes:
    packer = zlib.compressobj(level=1, wbits=31)
    return packer.compress(body) + packer.flush()


async def _compressed(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    packer = zlib.compressobj(level=1, wbits=31)
    async for chunk in chunks:
        for start in range(0, len(chunk), CHUNK):
            packed = packer.compress(chunk[start : start + CHUNK])
            if packed:
                yield packed
            await asyncio.sleep(0)
    yield packer.flush()


def _warning(text: str) -> bytes:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    clean = "".join(c if c.isprintable() else " " for c in quoted)
    return f'299 - "{clean}"'.encode("utf-8", "replace")
