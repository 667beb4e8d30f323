"""Slow programs outside harm only themselves: every exchange has a deadline, and redirects are handed on."""

import asyncio
import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from seatrial.model.times import SECOND
from seatrial.scheduler.config import Extender
from seatrial.scheduler.extender.extender import TransportError
from seatrial.scheduler.extender.http_transport import HttpTransport
from seatrial.server.admission.webhooks import WebhookAdmission
from seatrial.server.pools import OUTSIDE, Pools
from seatrial.server.webhooks.conversion import ConversionWebhooks
from seatrial.store.deferral import Awaited
from tests.server.admission.webhook_server import WebhookServer, configuration, webhook
from tests.server.client import Server
from tests.server.webhooks.test_conversion import DEFINITIONS, HOSTS, convert, definition, host


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
    for _ in range(1_200):
        connection.sendall(b"a")
        time.sleep(0.1)


LONG_BEFORE_THE_DRIP_ENDS = 60
"""Seconds: on a busy machine an exchange with a deadline of 1 s may take many."""


def test_an_exchange_is_over_at_its_deadline_however_many_bytes_arrive() -> None:
    from seatrial.server.timed_socket import TimedSocket, connect

    with program(drip) as port:
        start = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.sock = TimedSocket(connect(("127.0.0.1", port), start + 30), start + 1)
        with pytest.raises(TimeoutError):
            connection.request("GET", "/")
            connection.getresponse()
        assert 0.9 < time.monotonic() - start < LONG_BEFORE_THE_DRIP_ENDS
        connection.close()


def test_an_extender_that_drips_bytes_is_given_up_in_time() -> None:
    with program(drip) as port:
        start, transport = time.monotonic(), HttpTransport()
        with pytest.raises(TransportError):
            transport.post(Extender(url_prefix=""), f"http://127.0.0.1:{port}/filter", b"{}", SECOND)
        assert time.monotonic() - start < LONG_BEFORE_THE_DRIP_ENDS


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
        assert time.monotonic() - start < LONG_BEFORE_THE_DRIP_ENDS


def test_a_webhook_that_drips_is_given_up_after_its_timeout(server: Server, tmp_path: Path) -> None:
    """The answer would take more than 100 s; once each byte began the time anew."""
    server.store.admission = WebhookAdmission(server.store.admission, server.store)
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    with WebhookServer(tmp_path, lambda _: {"allowed": True}, pause=1) as hook:
        slow = webhook("slow.example.com", hook.client(), timeoutSeconds=2)
        assert server("POST", path, configuration("Validating", slow)).status == 201
        start = time.monotonic()
        answer = server("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "a"}})
        assert 1.9 < time.monotonic() - start < LONG_BEFORE_THE_DRIP_ENDS
    assert answer.status == 500
    assert 'failed calling webhook "slow.example.com"' in answer.json()["message"]


def test_a_conversion_that_drips_is_given_up_in_time(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seatrial.server.webhooks.conversion.SECONDS", 2)
    server.store.versions.call_webhook = ConversionWebhooks(server.store)
    with WebhookServer(tmp_path, convert, pause=1) as hook:
        assert server("POST", DEFINITIONS, definition(hook.client())).status == 201
        start = time.monotonic()
        answer = server("POST", HOSTS.format("v1"), host("a", "v1", address="example.com:80"))
        assert 1.9 < time.monotonic() - start < LONG_BEFORE_THE_DRIP_ENDS
    assert answer.status == 500
    assert answer.json()["message"].startswith("conversion webhook for example.com/v1, Kind=Host failed: Post ")
    assert answer.json()["message"].endswith("context deadline exceeded")


def test_programs_of_one_sort_take_no_threads_from_another() -> None:
    pools, let_go = Pools(), threading.Event()

    def hold() -> None:
        let_go.wait(60)

    async def scene() -> list[str]:
        ended: list[str] = []
        waiting = (pools.finish(Awaited("webhook", hold)) for _ in range(OUTSIDE["webhook"] + 1))
        held = [asyncio.ensure_future(each) for each in waiting]
        await pools.finish(Awaited("conversion", lambda: ended.append("conversion")))
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(pools.packing, lambda: ended.append("gzip"))
        await loop.run_in_executor(pools.long_work, lambda: ended.append("long work"))
        ended.append(f"{sum(task.done() for task in held)} webhooks")
        let_go.set()
        await asyncio.gather(*held)
        return ended

    assert asyncio.run(scene()) == ["conversion", "gzip", "long work", "0 webhooks"]
    pools.close()
