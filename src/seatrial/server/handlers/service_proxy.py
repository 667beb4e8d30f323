"""services/NAME:PORT/proxy: hands a request on to an endpoint of a Service, and its answer back.

Upstream: pkg/registry/core/service/storage (ResourceLocation), apimachinery/pkg/util/proxy (v1.36). Upgrades to other
protocols are not handed on.
"""

import asyncio
import ssl
import urllib.error
import urllib.parse
import urllib.request
from email.message import Message

from seatrial.model.errors import BadRequest, ServiceUnavailable
from seatrial.server.messages import Answer, Request
from seatrial.server.paths import Target
from seatrial.server.service_endpoints import NoEndpoint, service_endpoint
from seatrial.store import Store

SECONDS = 30
LARGEST_ANSWER = 64 * 1024 * 1024
HANDED_ON = ("accept", "content-type", "user-agent")


async def proxy_service(store: Store, request: Request, target: Target) -> Answer:
    """The answer of the program behind a Service."""
    scheme, name, port = _parts(target.name)
    try:
        host, number = service_endpoint(store, target.namespace, name, port)
    except NoEndpoint as error:
        raise ServiceUnavailable(str(error)) from error
    query = urllib.parse.urlencode(dict(request.query))
    address = f"[{host}]" if ":" in host else host
    url = f"{scheme}://{address}:{number}/{target.rest.lstrip('/')}{'?' + query if query else ''}"
    headers = {name: value for name in HANDED_ON if (value := request.header(name))}
    outgoing = urllib.request.Request(url, request.body or None, headers, method=request.method)
    return await asyncio.get_running_loop().run_in_executor(None, _exchange, outgoing)


def _parts(text: str) -> tuple[str, str, int | str | None]:
    """Scheme, name and port of `name`, `name:port` or `scheme:name:port`."""
    parts = text.split(":")
    if len(parts) > 3 or (len(parts) == 3 and parts[0] not in ("", "http", "https")):
        raise BadRequest(f'invalid service request "{text}"')
    scheme = parts[0] if len(parts) == 3 and parts[0] else "http"
    name, port = (parts[1], parts[2]) if len(parts) == 3 else (parts[0], parts[1] if len(parts) == 2 else "")
    return scheme, name, int(port) if port.isdecimal() else port or None


def _exchange(outgoing: urllib.request.Request) -> Answer:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # as upstream: a Service has no name to verify
    try:
        with urllib.request.urlopen(outgoing, timeout=SECONDS, context=context) as answer:
            return _answer(answer.read(LARGEST_ANSWER), answer.status, answer.headers)
    except urllib.error.HTTPError as error:
        return _answer(error.read(LARGEST_ANSWER), error.code, error.headers)
    except OSError as error:
        raise ServiceUnavailable(f"error trying to reach service: {getattr(error, 'reason', error)}") from error


def _answer(body: bytes, status: int, headers: "Message[str, str]") -> Answer:
    return Answer(body, status, headers.get("Content-Type") or "text/plain; charset=utf-8", newline=False)
