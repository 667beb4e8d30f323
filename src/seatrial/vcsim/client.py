"""A small client of the Kubernetes API: what `vcsimctl` needs, over one kept connection.

The official client decodes every object into classes (61 against 871 microseconds for a pod); a load test measures
the server and not the client, so requests and answers stay JSON.
"""

import base64
import http.client
import json
import socket
import ssl
import tempfile
import urllib.parse
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import orjson
import yaml

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError

TIMEOUT = 60.0


class ApiError(ConfigError):
    """An answer that is no success."""

    def __init__(self, what: str, code: int, message: str) -> None:
        super().__init__("", what, f"{message} (HTTP {code})")
        self.code = code


class Client:
    """Talks to the cluster of a kubeconfig, as its current context says."""

    def __init__(self, kubeconfig: Path, timeout: float = TIMEOUT) -> None:
        self._timeout = timeout
        document = _read(kubeconfig)
        context = _named(document, "contexts", "context", document.get("current-context", ""))
        cluster = _named(document, "clusters", "cluster", context.get("cluster", ""))
        user = _named(document, "users", "user", context.get("user", ""))
        address = urllib.parse.urlsplit(cluster.get("server", ""))
        self._host, self._port, self._https = address.hostname or "", address.port, address.scheme == "https"
        self._tls = _tls(cluster, user) if self._https else None
        self._headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if user.get("token"):
            self._headers["Authorization"] = f"Bearer {user['token']}"
        self._kept: http.client.HTTPConnection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def get(self, path: str) -> Document:
        return self.request("GET", path)

    def create(self, path: str, document: Document | bytes) -> Document:
        return self.request("POST", path, document)

    def request(self, method: str, path: str, body: Document | bytes | None = None) -> Document:
        """Send a request, and take what comes back; ApiError where that is a refusal."""
        data = body if isinstance(body, bytes | None) else orjson.dumps(body)
        code, answer = self._send(method, path, data)
        try:
            document: Document = orjson.loads(answer) if answer else {}
        except orjson.JSONDecodeError:
            document = {"message": answer.decode(errors="replace")[:200]}
        if code >= 400:
            raise ApiError(f"{method} {path}", code, str(document.get("message", "no message")))
        return document

    def watch(self, path: str) -> "Watch":
        """A watch on a connection of its own."""
        connection = self._connection()
        connection.request("GET", path, headers=self._headers)
        answer = connection.getresponse()
        if answer.status >= 400:
            text = answer.read().decode(errors="replace")[:200]
            connection.close()
            raise ApiError(f"GET {path}", answer.status, text)
        return Watch(connection, answer)

    def resource(self, api_version: str, kind: str) -> tuple[str, bool]:
        """The plural of a kind and whether it is namespaced; ConfigError where the cluster does not serve it."""
        root = f"/api/{api_version}" if "/" not in api_version else f"/apis/{api_version}"
        try:
            listed = self.get(root).get("resources") or []
        except ApiError:
            listed = []
        for item in listed:
            if item["kind"] == kind and "/" not in item["name"]:
                return item["name"], item["namespaced"]
        raise ConfigError("", "kind", f"the cluster does not serve {api_version} {kind}")

    def ready_nodes(self) -> tuple[int, int]:
        """How many nodes are Ready, and how many there are."""
        nodes = self.get("/api/v1/nodes").get("items") or []
        return sum(_is_ready(node) for node in nodes), len(nodes)

    def _send(self, method: str, path: str, data: bytes | None) -> tuple[int, bytes]:
        for attempt in range(2):
            if self._kept is None:
                self._kept = self._connection()
            try:
                self._kept.request(method, path, body=data, headers=self._headers)
                answer = self._kept.getresponse()
                return answer.status, answer.read()
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as error:
                # A server may end an idle connection; a fresh one is tried once.
                self.close()
                if attempt:
                    raise ConfigError("", self._host, f"the connection was lost: {error}") from error
            except OSError as error:
                self.close()
                why = f"no answer: {error}; `vcsimctl status` says whether the cluster runs"
                raise ConfigError("", f"{self._host}:{self._port}", why) from error
        raise AssertionError("unreachable")

    def _connection(self) -> http.client.HTTPConnection:
        if self._https:
            return http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self._tls)
        return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)


class Watch:
    """The lines of a watch, as they come."""

    def __init__(self, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse) -> None:
        self._connection, self._answer = connection, answer
        self._socket = connection.sock
        connection.sock.settimeout(None)

    def __iter__(self) -> Iterator[bytes]:
        try:
            while line := self._answer.readline():
                yield line
        except http.client.HTTPException:
            return
        finally:
            self._connection.close()

    def close(self) -> None:
        """End the watch: its reader, which may run in another thread, gets no more events."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


def _is_ready(node: Document) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or []
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def _read(path: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(str(path), "", f"cannot be read as a kubeconfig: {error}") from error
    if not isinstance(document, dict):
        raise ConfigError(str(path), "", "expected a kubeconfig")
    return document


def _named(document: dict[str, Any], listing: str, field: str, name: str) -> dict[str, Any]:
    for item in document.get(listing) or []:
        if item.get("name") == name:
            return item.get(field) or {}
    raise ConfigError("kubeconfig", listing, f"{name!r} is not in it: {json.dumps(document.get(listing))[:80]}")


def _tls(cluster: dict[str, Any], user: dict[str, Any]) -> ssl.SSLContext:
    authority = cluster.get("certificate-authority-data")
    context = ssl.create_default_context(
        cafile=cluster.get("certificate-authority"),
        cadata=base64.b64decode(authority).decode() if authority else None,
    )
    certificate, key = user.get("client-certificate"), user.get("client-key")
    if certificate and key:
        context.load_cert_chain(certificate, key)
    elif user.get("client-certificate-data") and user.get("client-key-data"):
        with tempfile.NamedTemporaryFile(suffix=".pem") as both:
            for field in ("client-certificate-data", "client-key-data"):
                both.write(base64.b64decode(user[field]))
            both.flush()
            context.load_cert_chain(both.name)
    return context
