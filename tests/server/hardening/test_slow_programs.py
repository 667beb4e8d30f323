"""Slow programs outside harm only themselves: every exchange has a deadline, and redirects are handed on."""

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from seatrial.model.times import SECOND
from seatrial.scheduler.config import Extender
from seatrial.scheduler.extender.extender import TransportError
from seatrial.scheduler.extender.http_transport import HttpTransport
from seatrial.server.timed_socket import TimedSocket, connect
from tests.server.client import Server


@contextmanager
def program(answer: Callable[[socket.socket], None]) -> Iterator[int]:
    """A program that answers each connection in its own way; its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                threading.Thread(target=answered, args=(connection,), daemon=True).start()

        def answered(connection: socket.socket) -> None:
            with connection:
                connection.recv(65536)
                with suppress(OSError):
                    answer(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


def drip(connection: socket.socket) -> None:
    """One byte of a header every tenth of a second, for longer than any test runs."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nx: ")
    for _ in range(600):
        connection.sendall(b"a")
        time.sleep(0.1)


def test_an_exchange_is_over_at_its_deadline_however_many_bytes_arrive() -> None:
    with program(drip) as port:
        start = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.sock = TimedSocket(connect(("127.0.0.1", port), start + 1), start + 1)
        connection.request("GET", "/")
        with pytest.raises(TimeoutError):
            connection.getresponse()
        assert 0.9 < time.monotonic() - start < 5
        connection.close()


def test_an_extender_that_drips_bytes_is_given_up_in_time() -> None:
    with program(drip) as port:
        start, transport = time.monotonic(), HttpTransport()
        with pytest.raises(TransportError):
            transport.post(Extender(url_prefix=""), f"http://127.0.0.1:{port}/filter", b"{}", SECOND)
        assert time.monotonic() - start < 5


def redirect(to: str) -> Callable[[socket.socket], None]:
    text = f"HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 5\r\n\r\nmoved".encode()
    return lambda connection: connection.sendall(text)


PROXY = "/api/v1/namespaces/default/services/s/proxy"


@pytest.mark.parametrize(
    ("to", "location"),
    [
        ("http://elsewhere.example/secret", "http://elsewhere.example/secret"),
        ("/login?a=b", f"{PROXY}/login?a=b"),
        (f"{PROXY}/x", f"{PROXY}/x"),
        ("relative", "relative"),
    ],
)
def test_the_proxy_hands_redirects_on(server: Server, monkeypatch: pytest.MonkeyPatch, to: str, location: str) -> None:
    with program(redirect(to)) as port:
        monkeypatch.setattr("seatrial.server.handlers.service_proxy.service_endpoint", lambda *_: ("127.0.0.1", port))
        answer = server("GET", f"{PROXY}/start")
        assert (answer.status, answer.body, answer.header("location")) == (302, b"moved", location)


def test_a_program_that_drips_holds_its_own_request_only(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seatrial.server.handlers.service_proxy.SECONDS", 1)
    with program(drip) as port:
        monkeypatch.setattr("seatrial.server.handlers.service_proxy.service_endpoint", lambda *_: ("127.0.0.1", port))
        start = time.monotonic()
        assert server("GET", f"{PROXY}/").status == 503
        assert time.monotonic() - start < 5
