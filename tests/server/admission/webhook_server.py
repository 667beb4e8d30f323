"""A webhook on loopback whose answers a test decides."""

import base64
import json
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from seatrial.server.auth.certificates import Certificates

Answer = Callable[[dict[str, Any]], dict[str, Any]]


class WebhookServer:
    """Answers every review with what `answer` makes of its request, and remembers the requests.

    With `pause` seconds it waits after each byte of an answer.
    """

    def __init__(self, directory: Path, answer: Answer, pause: float = 0.0) -> None:
        self.requests: list[dict[str, Any]] = []
        certificates = Certificates.in_directory(directory / "webhook")
        self._bundle = base64.b64encode(certificates.authority.read_bytes()).decode()
        seen = self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                review = json.loads(self.rfile.read(int(self.headers["content-length"])))
                seen.append(review["request"])
                response = {"uid": review["request"]["uid"], **answer(review["request"])}
                body = json.dumps(
                    {"kind": review["kind"], "apiVersion": review["apiVersion"], "response": response}
                ).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                if not pause:
                    self.wfile.write(body)
                    return
                with suppress(OSError):
                    for place in range(len(body)):
                        self.wfile.write(body[place : place + 1])
                        time.sleep(pause)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates.certificate, certificates.key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def client(self) -> dict[str, Any]:
        """The clientConfig under which it is called."""
        return {"url": f"https://127.0.0.1:{self._server.server_address[1]}/hook", "caBundle": self._bundle}


def patch(*operations: dict[str, Any]) -> dict[str, Any]:
    """A response that allows the request and changes the object."""
    encoded = base64.b64encode(json.dumps(operations).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": encoded}


def webhook(name: str, client: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A webhook for the creation and change of ConfigMaps."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}
    return {
        "name": name,
        "clientConfig": client,
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }


def configuration(kind: str, *webhooks: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": "test"},
        "webhooks": list(webhooks),
    }
