"""Calls a webhook: resolves its address, verifies its certificate and reads its answer.

A webhook is called at its URL, or at an endpoint of the Service that it names; the certificate is then verified for
the name of the Service.

Upstream: k8s.io/apiserver/pkg/util/webhook/client.go, client-go/rest/request.go (texts of errors).
"""

import base64
import http.client
import ssl
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from seatrial.model.documents import Document, decode, encode
from seatrial.server.service_endpoints import NoEndpoint, service_endpoint
from seatrial.server.timed_socket import TimedSocket, connect
from seatrial.store import Store
from seatrial.store.field_errors import quoted

LARGEST_ANSWER = 64 * 1024 * 1024
_TEXTS = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}
_SIGNED_BY_UNKNOWN = (18, 19, 20, 21)
"""OpenSSL's verdicts about a chain that ends at no known authority."""


class CallError(Exception):
    """A webhook that could not be called or did not answer properly."""


@dataclass(frozen=True, slots=True)
class Address:
    """The URL of a webhook, and the endpoint to connect to where the name in the URL is that of a Service."""

    url: str
    endpoint: tuple[str, int] | None = None
    unreachable: str = ""
    """The reason why the Service cannot be reached."""


def address_of(store: Store, client: Document) -> Address:
    """The address of a clientConfig."""
    if client.get("url"):
        return Address(str(client["url"]))
    service = client.get("service") or {}
    namespace, name, port = service.get("namespace", ""), service.get("name", ""), service.get("port") or 443
    url = f"https://{name}.{namespace}.svc:{port}/{(service.get('path') or '').lstrip('/')}"
    kind = store.kinds.named("v1", "Service")
    if kind is None or store.find(kind, name, namespace) is None:
        return Address(url, unreachable=f'service "{name}" not found')
    try:
        return Address(url, service_endpoint(store, namespace, name, port))
    except NoEndpoint as error:
        return Address(url, unreachable=str(error))


def call(address: Address, client: Document, review: Document, seconds: int) -> Document:
    """The document that a webhook answers a review with; CallError without an answer."""
    target = f"{address.url}?timeout={seconds}s"
    if address.unreachable:
        raise CallError(f'Post "{target}": {address.unreachable}')
    parts = urlsplit(target)
    connection = _Connection(address, _trust(client), seconds)
    try:
        headers = {"Content-Type": "application/json", "Accept": "application/json, */*", "User-Agent": "seatrial"}
        connection.request("POST", f"{parts.path or '/'}?{parts.query}", encode(review), headers)
        with connection.getresponse() as answer:
            status, body = answer.status, answer.read(LARGEST_ANSWER)
    except (OSError, http.client.HTTPException) as error:
        raise CallError(f'Post "{target}": {_why(error, connection)}') from error
    finally:
        connection.close()
    return _document(status, body, answer.headers.get("content-type", ""))


class _Connection(http.client.HTTPSConnection):
    """A connection to the endpoint of a Service under the Service's name, with a deadline for the whole exchange."""

    def __init__(self, address: Address, trust: ssl.SSLContext, seconds: int) -> None:
        parts = urlsplit(address.url)
        super().__init__(parts.hostname or "", parts.port or 443, timeout=seconds, context=trust)
        self._deadline = time.monotonic() + seconds
        self.endpoint = address.endpoint or (self.host, self.port)
        self._trust = trust

    def connect(self) -> None:
        plain = connect(self.endpoint, self._deadline)
        try:
            secured = self._trust.wrap_socket(plain, server_hostname=self.host)
        except OSError:
            plain.close()
            raise
        self.sock = TimedSocket(secured, self._deadline)


def _trust(client: Document) -> ssl.SSLContext:
    bundle = str(client.get("caBundle") or "")
    try:
        pem = base64.b64decode(bundle).decode()
        return ssl.create_default_context(cadata=pem if pem.strip() else None)
    except (ValueError, ssl.SSLError) as error:
        raise CallError("unable to load root certificates: unable to parse bytes as PEM block") from error


def _why(error: Exception, connection: _Connection) -> str:
    """The reason of a failed connection in Go's words."""
    host, port = connection.endpoint
    match error:
        case TimeoutError():
            return "context deadline exceeded"
        case ConnectionRefusedError():
            return f"dial tcp {host}:{port}: connect: connection refused"
        case ssl.SSLCertVerificationError() if error.verify_code in _SIGNED_BY_UNKNOWN:
            return "tls: failed to verify certificate: x509: certificate signed by unknown authority"
        case ssl.SSLCertVerificationError():
            return f"tls: failed to verify certificate: x509: {error.verify_message}"
        case http.client.RemoteDisconnected():
            return "EOF"
    return str(error)


def _document(status: int, body: bytes, media: str) -> Document:
    """The document in an answer; a Status in it, or else its code, tells why there is none."""
    answer: Any = None
    try:
        answer = decode(body)
    except ValueError as error:
        if 200 <= status < 300:
            raise CallError(f"couldn't get version/kind; json parse error: {error}") from error
    is_status = isinstance(answer, dict) and answer.get("kind") == "Status"
    if is_status and answer.get("status") != "Success":
        raise CallError(str(answer.get("message") or ""))
    if not 200 <= status < 300:
        said = body.decode(errors="replace").strip() if media.startswith("text/") else "unknown"
        text = f"the server responded with the status code {status} but did not return more information"
        if status == 403:
            text = said
        elif status >= 500:
            text = f"an error on the server ({quoted(said)}) has prevented the request from succeeding"
        raise CallError(_TEXTS.get(status, text))
    if not isinstance(answer, dict):
        raise CallError("couldn't get version/kind; json parse error: the answer is no object")
    return answer
