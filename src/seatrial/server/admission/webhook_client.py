"""Calls an admission webhook: resolves its address, verifies its certificate and reads its response.

A webhook is called at its URL, or at an endpoint of the Service that it names.

Upstream: k8s.io/apiserver/pkg/util/webhook/client.go and pkg/admission/plugin/webhook/request/admissionreview.go.
"""

import base64
import ssl
import urllib.error
import urllib.request
from typing import Any

from seatrial.model.documents import Document, decode, encode
from seatrial.server.service_endpoints import NoEndpoint, service_endpoint
from seatrial.store import Store

DEFAULT_SECONDS = 10
LARGEST_ANSWER = 8 * 1024 * 1024


class CallError(Exception):
    """A webhook that could not be called or did not answer properly."""


def address_of(store: Store, client: Document) -> str:
    """The URL to call; CallError where the Service that is named cannot be reached."""
    if client.get("url"):
        return str(client["url"])
    service = client.get("service") or {}
    namespace, name = service.get("namespace", ""), service.get("name", "")
    kind = store.kinds.named("v1", "Service")
    if kind is None or store.find(kind, name, namespace) is None:
        raise CallError(f'service "{name}" not found')
    try:
        host, port = service_endpoint(store, namespace, name, service.get("port") or 443)
    except NoEndpoint as error:
        raise CallError(str(error)) from error
    return f"https://{host}:{port}/{(service.get('path') or '').lstrip('/')}"


def call(url: str, client: Document, review: Document, seconds: int) -> Document:
    """The response of a webhook to a review; CallError where there is no proper one."""
    target = f"{url}?timeout={seconds}s"
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    request = urllib.request.Request(target, encode(review), headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=seconds, context=_trust(client)) as answer:
            body = answer.read(LARGEST_ANSWER)
    except urllib.error.HTTPError as error:
        raise CallError(f"an error on the server ({error.reason}) has prevented the request from succeeding") from error
    except TimeoutError as error:
        raise CallError(f'Post "{target}": context deadline exceeded') from error
    except OSError as error:
        why = getattr(error, "reason", None) or error
        raise CallError(f'Post "{target}": {why}') from error
    return _response(body, review)


def _trust(client: Document) -> ssl.SSLContext | None:
    bundle = client.get("caBundle")
    if not bundle:
        return ssl.create_default_context()
    try:
        context = ssl.create_default_context(cadata=base64.b64decode(bundle).decode())
    except (ValueError, ssl.SSLError) as error:
        raise CallError(f"unable to load root certificates: {error}") from error
    if client.get("service"):
        # The certificate is for the name of the Service, and the call goes to an address.
        context.check_hostname = False
    return context


def _response(body: bytes, review: Document) -> Document:
    try:
        answer: Any = decode(body)
    except ValueError as error:
        raise CallError(f"couldn't decode the answer: {error}") from error
    response = answer.get("response") if isinstance(answer, dict) else None
    if not isinstance(response, dict):
        raise CallError("webhook response was absent")
    if answer.get("kind") != "AdmissionReview" or answer.get("apiVersion") != review["apiVersion"]:
        wanted = f"{review['apiVersion']}, Kind=AdmissionReview"
        given = f"{answer.get('apiVersion', '')}, Kind={answer.get('kind', '')}"
        raise CallError(f"expected webhook response of {wanted}, got {given}")
    if response.get("uid") != review["request"]["uid"]:
        raise CallError(f'expected response.uid="{review["request"]["uid"]}", got "{response.get("uid", "")}"')
    return response
