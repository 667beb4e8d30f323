"""A real server under requests of eight clients from a grammar: no 5xx, memory flat, a restart serves the same state.

`make test` sends some hundreds, `make test-long-subset` 10,000, `make test-long` 200,000 (SEATRIAL_FUZZ_REQUESTS), and
`make test-fuzz` 500,000 with 20 restarts; it also holds the server to SEATRIAL_FUZZ_STALL seconds for /readyz, less
what it waited for a processor.
"""

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, suppress
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from seatrial.model.builtin import builtin_kinds
from tests.server.fuzzing import Attack
from tests.server.grammar import Grammar
from tests.server.probing import Probe
from tests.server.samples import samples
from tests.server.test_process import Process

SEED = 20260715
CLIENTS = 8
RESTART_AFTER, RESTARTS = 10_000, 20
LEAST_SUCCESS = 0.3
Place = tuple[str, ...]
GROWTH = 1.5
"""How much larger the server may become from one restart to the next; what it stores does grow."""


class Client:
    """One connection to a server, opened again when the server has closed it.

    Over a plain socket: http.client takes as long for a request as the server does.
    """

    def __init__(self, url: str) -> None:
        self._host = urlsplit(url).netloc
        self._socket: socket.socket | None = None

    def send(self, attack: Attack) -> tuple[int, bytes]:
        fields = {"host": self._host, **{key.replace("_", "-"): text for key, text in attack.headers.items() if text}}
        if attack.body is not None:
            fields["content-length"] = str(len(attack.body))
        head = "".join(f"{name}: {text}\r\n" for name, text in fields.items())
        message = f"{attack.method} {attack.path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + (attack.body or b"")
        for is_last in (False, True):
            try:
                return self._exchange(message, attack.method)
            except ConnectionError:
                self.close()
                if is_last:
                    raise
        raise AssertionError("unreachable")

    def _exchange(self, message: bytes, method: str) -> tuple[int, bytes]:
        if self._socket is None:
            host, _, port = self._host.rpartition(":")
            self._socket = socket.create_connection((host, int(port)), timeout=120)
            self._file = self._socket.makefile("rb")
        with suppress(ConnectionError):
            # A server that refuses a long body may have closed its side; its answer is there nevertheless.
            self._socket.sendall(message)
        first = self._file.readline()
        if not first:
            raise ConnectionResetError
        fields: dict[bytes, bytes] = {}
        while line := self._file.readline().strip():
            name, _, text = line.partition(b":")
            fields[name.lower()] = text.strip()
        body = b"" if method == "HEAD" else self._body(fields)
        if fields.get(b"connection", b"").lower() == b"close":
            self.close()
        return int(first.split()[1]), body

    def _body(self, fields: dict[bytes, bytes]) -> bytes:
        if fields.get(b"transfer-encoding") != b"chunked":
            length = fields.get(b"content-length")
            return self._file.read(int(length)) if length is not None else b""
        chunks = []
        while size := int(self._file.readline(), 16):
            chunks.append(self._file.read(size))
            self._file.readline()
        self._file.readline()
        return b"".join(chunks)

    def close(self) -> None:
        if self._socket is not None:
            self._file.close()
            self._socket.close()
            self._socket = None

    def state(self, made: frozenset[Place] = frozenset()) -> dict[str, list[Place]]:
        """Every object that is served, by kind: where it is, its uid and revision.

        What every start makes is left out: it is made again where it was deleted, as kube-apiserver does.
        """
        found: dict[str, list[Place]] = {}
        for kind in builtin_kinds():
            if "list" not in kind.verbs:
                continue
            root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
            status, body = self.send(Attack("GET", f"{root}/{kind.plural}"))
            if status == 200:
                metadata = [item["metadata"] for item in json.loads(body)["items"] or ()]
                found[kind.resource] = sorted(
                    (item.get("namespace", ""), item["name"], item["uid"], item["resourceVersion"])
                    for item in metadata
                    if (kind.resource, item.get("namespace", ""), item["name"]) not in made
                )
        return found

    def made_at_start(self) -> frozenset[Place]:
        """Kind, namespace and name of everything in a server that was just started for the first time."""
        return frozenset((kind, *place[:2]) for kind, places in self.state().items() for place in places)


def probe_of(server: Process) -> Probe:
    """Asks this server for /readyz."""
    client = Client(server.url)
    return Probe(server.process.pid, lambda: client.send(Attack("GET", "/readyz"))[0], client.close)


def resident(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    return 0


def is_expected(attack: Attack, status: int) -> bool:
    """No 5xx but a timeout that the client asked for, and the proxy's answer for a Service without endpoints."""
    return status < 500 or status == 504 or (status == 503 and "/proxy" in attack.path)


class Clients:
    """Clients that send at the same time, each the requests of its own seed.

    They are in another process, so that what they compute does not delay the probe.
    """

    _attacks: tuple[Iterator[Attack], ...] = ()
    """In the process of the clients: what each has still to send."""

    def __init__(self, seed: int) -> None:
        self._process = ProcessPoolExecutor(1, get_context("spawn"), Clients._begin, (seed,))

    def send(self, url: str, number: int) -> int:
        """Send requests; how many succeeded."""
        return self._process.submit(Clients._send_all, url, number).result()

    def close(self) -> None:
        self._process.shutdown()

    @classmethod
    def _begin(cls, seed: int) -> None:
        kinds, objects = list(builtin_kinds()), samples()
        cls._attacks = tuple(
            Grammar(seed + number, kinds, objects, f"fuzz{number}").attacks() for number in range(CLIENTS)
        )

    @classmethod
    def _send_all(cls, url: str, number: int) -> int:
        shares = [number // CLIENTS + (place < number % CLIENTS) for place in range(CLIENTS)]
        with ThreadPoolExecutor(CLIENTS) as threads:
            return sum(threads.map(cls._send, [url] * CLIENTS, cls._attacks, shares))

    @staticmethod
    def _send(url: str, attacks: Iterator[Attack], number: int) -> int:
        successes = 0
        with closing(Client(url)) as client:
            for attack in islice(attacks, number):
                status, body = client.send(attack)
                assert is_expected(attack, status), f"{attack} -> {status} {body[:500]!r}"
                successes += status < 300
        return successes


def throw(home: Path, number: int, restart_after: int) -> dict[str, Any]:
    """Send the requests; how they went."""
    flags = ("--port", "0", "--insecure", "--data-dir", str(home / "data"))
    clients = Clients(int(os.environ.get("SEATRIAL_FUZZ_SEED", SEED)))
    figures: dict[str, Any] = {"requests": 0, "successes": 0, "stall": 0.0, "wall": 0.0, "restarts": 0, "resident": []}
    server, sent, start = Process(home, *flags), 0, time.perf_counter()
    try:
        with closing(Client(server.url)) as first:
            made = first.made_at_start()
        while sent < number:
            probe, share = probe_of(server), min(restart_after, number - sent)
            figures["successes"] += clients.send(server.url, share)
            sent += share
            stall, wall = probe.end()
            figures["stall"], figures["wall"] = max(figures["stall"], stall), max(figures["wall"], wall)
            figures["resident"].append(resident(server.process.pid))
            with closing(Client(server.url)) as client:
                before = client.state(made)
            server.end(signal.SIGKILL if sent // restart_after % 2 else signal.SIGTERM)
            server = Process(home, *flags)
            with closing(Client(server.url)) as again:
                assert again.state(made) == before
            figures["restarts"] += 1
            print(sent, figures["successes"], f"{stall:.3f} s of {wall:.3f} s", figures["resident"][-1], flush=True)
        figures["requests"], figures["seconds"] = sent, round(time.perf_counter() - start)
    finally:
        clients.close()
        if server.process.poll() is None:
            server.end(signal.SIGKILL)
    return figures


def check(figures: dict[str, Any]) -> None:
    print(figures)
    assert figures["successes"] / figures["requests"] >= LEAST_SUCCESS
    sizes = figures["resident"]
    assert all(size < max(sizes[0], 300 << 20) * GROWTH for size in sizes), sizes
    limit = os.environ.get("SEATRIAL_FUZZ_STALL")
    assert limit is None or figures["stall"] <= float(limit), figures


def test_some_hundred_requests_and_two_restarts(tmp_path: Path) -> None:
    check(throw(tmp_path, 600, 300))


@pytest.mark.long
def test_many_requests(tmp_path: Path) -> None:
    number = int(os.environ.get("SEATRIAL_FUZZ_REQUESTS", "10000"))
    check(throw(tmp_path, number, max(RESTART_AFTER, number // RESTARTS)))
