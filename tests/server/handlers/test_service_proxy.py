"""services/NAME:PORT/proxy reaches a program that an EndpointSlice names, and never a pod."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.server.client import Server

SERVICES = "/api/v1/namespaces/default/services"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"


class Echo(BaseHTTPRequestHandler):
    """Answers with what it was asked."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        answer = f"{self.path} {body.decode()}".encode()
        self.send_response(202)
        self.send_header("Content-Type", "text/x-echo")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield listening.server_port
        listening.shutdown()
        thread.join()


def publish(server: Server, port: int, **endpoint: Any) -> None:
    spec = {"ports": [{"name": "web", "port": 80}]}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "echo"}, "spec": spec}
    assert server("POST", SERVICES, service).status == 201
    found = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "echo", "labels": {"kubernetes.io/service-name": "echo"}},
        "addressType": "IPv4",
        "ports": [{"name": "web", "port": port}],
        "endpoints": [{"addresses": ["127.0.0.1"], **endpoint}],
    }
    made = server("POST", SLICES, found)
    assert made.status == 201, made.body


@pytest.mark.parametrize("name", ["echo", "echo:80", "echo:web", "http:echo:web"])
def test_a_request_is_handed_on(server: Server, port: int, name: str) -> None:
    publish(server, port)
    answer = server("POST", f"{SERVICES}/{name}/proxy/a/b?c=d", {"x": 1})
    assert (answer.status, answer.header("content-type")) == (202, "text/x-echo")
    assert answer.body.decode().startswith('/a/b?c=d {"x"')


def test_a_service_that_only_pods_are_behind_has_no_endpoint(server: Server, port: int) -> None:
    publish(server, port, targetRef={"kind": "Pod", "name": "p", "namespace": "default"})
    refused = server("POST", f"{SERVICES}/echo/proxy", {})
    assert refused.status == 503
    assert refused.json()["message"] == 'no endpoints available for service "echo"'


def test_a_service_that_does_not_exist_is_not_found(server: Server) -> None:
    assert server("GET", f"{SERVICES}/missing:80/proxy").status == 404
    assert server("GET", f"{SERVICES}/a:b:c:d/proxy").status == 400
