"""A real server under requests from a grammar: no 5xx, memory flat, and a restart serves the same state.

`make test` sends some hundreds, `make test-long-subset` 10,000, `make test-long` 200,000 (SEATRIAL_FUZZ_REQUESTS), and
`make test-fuzz` also holds the server to SEATRIAL_FUZZ_STALL seconds for /readyz, less what it waited for a processor.
"""

import http.client
import json
import os
import signal
import time
from contextlib import closing
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
RESTART_AFTER = 10_000
LEAST_SUCCESS = 0.3
Place = tuple[str, ...]
GROWTH = 1.5
"""How much larger the server may become from one restart to the next; what it stores does grow."""


class Client:
    """One connection to a server, opened again when the server has closed it."""

    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)

    def send(self, attack: Attack) -> tuple[int, bytes]:
        headers = {name.replace("_", "-"): value for name, value in attack.headers.items() if value}
        for is_last in (False, True):
            try:
                self._connection.putrequest(attack.method, attack.path, skip_accept_encoding=True)
                for name, value in headers.items():
                    self._connection.putheader(name, value)
                if attack.body is not None:
                    self._connection.putheader("content-length", str(len(attack.body)))
                self._connection.endheaders(attack.body)
                answer = self._connection.getresponse()
                return answer.status, answer.read()
            except (ConnectionError, http.client.BadStatusLine):
                self._connection.close()
                if is_last:
                    raise
        raise AssertionError("unreachable")

    def close(self) -> None:
        self._connection.close()

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


def throw(home: Path, number: int, restart_after: int) -> dict[str, Any]:
    """Send the requests; how they went."""
    flags = ("--port", "0", "--insecure", "--data-dir", str(home / "data"))
    attacks = Grammar(int(os.environ.get("SEATRIAL_FUZZ_SEED", SEED)), list(builtin_kinds()), samples()).attacks(number)
    figures: dict[str, Any] = {"requests": 0, "successes": 0, "stall": 0.0, "wall": 0.0, "restarts": 0, "resident": []}
    server, sent, start = Process(home, *flags), 0, time.perf_counter()
    try:
        with closing(Client(server.url)) as first:
            made = first.made_at_start()
        while sent < number:
            client, probe = Client(server.url), probe_of(server)
            for _, attack in zip(range(min(restart_after, number - sent)), attacks, strict=False):
                status, body = client.send(attack)
                sent += 1
                assert is_expected(attack, status), f"{attack} -> {status} {body[:500]!r}"
                figures["successes"] += status < 300
            stall, wall = probe.end()
            figures["stall"], figures["wall"] = max(figures["stall"], stall), max(figures["wall"], wall)
            figures["resident"].append(resident(server.process.pid))
            before = client.state(made)
            client.close()
            server.end(signal.SIGKILL if sent // restart_after % 2 else signal.SIGTERM)
            server = Process(home, *flags)
            with closing(Client(server.url)) as again:
                assert again.state(made) == before
            figures["restarts"] += 1
            print(sent, figures["successes"], f"{stall:.3f} s of {wall:.3f} s", figures["resident"][-1], flush=True)
        figures["requests"], figures["seconds"] = sent, round(time.perf_counter() - start)
    finally:
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
    check(throw(tmp_path, int(os.environ.get("SEATRIAL_FUZZ_REQUESTS", "10000")), RESTART_AFTER))
