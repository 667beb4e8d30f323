"""services/NAME:PORT/proxy: hands a request on to an endpoint of a Service, and its answer back.

An answer is handed back as it is, a redirect too; one to the same program is made to lead through the proxy again.
Upgrades to other protocols are not handed on.

Upstream: pkg/registry/core/service/storage (ResourceLocation), apimachinery/pkg/util/proxy (transport.go; v1.36).
"""

import asyncio
import http.client
import ssl
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

from seatrial.model.errors import BadRequest, ServiceUnavailable
from seatrial.model.integers import int_of
from seatrial.server.messages import Answer, Request
from seatrial.server.paths import Target
from seatrial.server.service_endpoints import NoEndpoint, service_endpoint
from seatrial.server.timed_socket import TimedSocket, connect
from seatrial.store import Store

SECONDS = 30
"""For the whole exchange."""
AT_ONCE = 32
LARGEST_ANSWER = 64 * 1024 * 1024
HANDED_ON = ("accept", "content-type", "user-agent")
HANDED_BACK = ("cache-control", "etag", "last-modified", "location", "retry-after")
"""Headers of an answer; no cookie, which would be one of this server's for a browser."""


class ServiceProxy:
    """Hands requests on; slow programs make each other wait, and no other request."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="proxy")

    async def serve(self, request: Request, target: Target) -> Answer:
        """The answer of the program behind a Service."""
        scheme, name, port = _parts(target.name)
        try:
            endpoint = service_endpoint(self._store, target.namespace, name, port)
        except NoEndpoint as error:
            raise ServiceUnavailable(str(error)) from error
        query = urllib.parse.urlencode(dict(request.query))
        path = f"/{target.rest.lstrip('/')}{'?' + query if query else ''}"
        prefix = f"/api/v1/namespaces/{target.namespace}/services/{target.name}/proxy"
        exchange = (_Connection(scheme, endpoint), request, path, prefix)
        return await asyncio.get_running_loop().run_in_executor(self._threads, _exchange, *exchange)


class _Connection(http.client.HTTPConnection):
    """A connection to an endpoint; the deadline begins with the request, not with a free thread."""

    def __init__(self, scheme: str, endpoint: tuple[str, int]) -> None:
        super().__init__(*endpoint)
        self._endpoint, self._scheme = endpoint, scheme
        self._deadline = time.monotonic() + SECONDS

    def connect(self) -> None:
        connected = connect(self._endpoint, self._deadline)
        if self._scheme == "https":
            trust = ssl.create_default_context()
            trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE  # as upstream: a Service has no name
            connected = trust.wrap_socket(connected)
        self.sock = TimedSocket(connected, self._deadline)


def _parts(text: str) -> tuple[str, str, int | str | None]:
    """Scheme, name and port of `name`, `name:port` or `scheme:name:port`."""
    parts = text.split(":")
    if len(parts) > 3 or (len(parts) == 3 and parts[0] not in ("", "http", "https")):
        raise BadRequest(f'invalid service request "{text}"')
    scheme = parts[0] if len(parts) == 3 and parts[0] else "http"
    name, port = (parts[1], parts[2]) if len(parts) == 3 else (parts[0], parts[1] if len(parts) == 2 else "")
    return scheme, name, int_of(port) if port.isdecimal() else port or None


def _exchange(connection: _Connection, request: Request, path: str, prefix: str) -> Answer:
    headers = {name: value for name in HANDED_ON if (value := request.header(name))}
    try:
        connection.request(request.method, path, request.body or None, headers)
        with connection.getresponse() as answer:
            body = answer.read(LARGEST_ANSWER)
    except (OSError, http.client.HTTPException) as error:
        raise ServiceUnavailable(f"error trying to reach service: {error}") from error
    finally:
        connection.close()
    kept = {name: str(answer.headers[name]) for name in HANDED_BACK if name in answer.headers}
    if "location" in kept:
        kept["location"] = _through(prefix, kept["location"], connection)
    fields = tuple((name.encode(), value.encode("latin-1", "replace")) for name, value in kept.items())
    media = answer.headers.get("Content-Type") or "text/plain; charset=utf-8"
    return Answer(body, answer.status, media, fields, newline=False)


def _through(prefix: str, location: str, connection: _Connection) -> str:
    """Where a redirect leads as the client has to ask for it."""
    parts = urllib.parse.urlsplit(location)
    same = parts.netloc in ("", f"{connection.host}:{connection.port}")
    if not same or not parts.path.startswith("/") or parts.path.startswith(prefix):
        return location
    return urllib.parse.urlunsplit(("", "", f"{prefix}{parts.path}", parts.query, parts.fragment))
