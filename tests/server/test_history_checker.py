"""Writers, watchers and kills: what clients of `serve --data-dir` observe has one explanation.

30 s with 8 writers and 20 watchers; `make test-history` takes an hour (SEATRIAL_HISTORY_SECONDS for another time).
"""

import http.client
import json
import os
import random
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.server.hardening.test_hardening import MAPS
from tests.server.histories import ABSENT, Call, History, Seen, Verb, Watch
from tests.server.test_process import Process

SECONDS = float(os.environ.get("SEATRIAL_HISTORY_SECONDS", "30"))
WRITERS, WATCHERS, KEYS = 8, 20, 24
CONTENT = {"content-type": "application/json"}
VERBS: tuple[Verb, ...] = ("create", "create", "update", "update", "patch", "delete", "read", "read")
BROKEN = (OSError, http.client.HTTPException, ValueError)


class Clients:
    """Threads that call one server, which is killed and started again."""

    def __init__(self, port: int) -> None:
        self.port, self.written, self.stopped = port, threading.Event(), threading.Event()
        self.history, self.calls = History(), list[Call]()
        self.watches = [Watch() for _ in range(WATCHERS)]
        self.numbers: Counter[str] = Counter()

    def connection(self, timeout: float = 10) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def write(self, number: int) -> None:
        """Make calls about random keys, one after the other."""
        dice, count = random.Random(number), 0
        known: dict[str, int] = {}
        while not self.written.is_set():
            with suppress(*BROKEN), closing(self.connection()) as connection:
                while not self.written.is_set():
                    count += 1
                    call = self._call(dice, known, f"{number}-{count}")
                    self.calls.append(call)
                    self._make(connection, call, known)
                    time.sleep(0.01)
            time.sleep(0.05)

    @staticmethod
    def _call(dice: random.Random, known: dict[str, int], value: str) -> Call:
        key = f"k{dice.randrange(KEYS)}"
        verb = dice.choice(VERBS)
        expected = known.get(key, 1) if verb in ("update", "delete") else 0
        return Call(verb, key, ABSENT if verb in ("delete", "read") else value, time.monotonic(), expected=expected)

    def _make(self, connection: http.client.HTTPConnection, call: Call, known: dict[str, int]) -> None:
        method = {"create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE", "read": "GET"}[call.verb]
        document: dict[str, Any] = {"metadata": {"name": call.key}, "data": {"value": call.value}}
        if call.verb == "update":
            document["metadata"]["resourceVersion"] = str(call.expected)
        if call.verb == "delete":
            document = {"preconditions": {"resourceVersion": str(call.expected)}}
        body = json.dumps(document) if call.verb != "read" else None
        headers = {"content-type": "application/merge-patch+json"} if call.verb == "patch" else CONTENT
        connection.request(method, MAPS if call.verb == "create" else f"{MAPS}/{call.key}", body, headers)
        answer = connection.getresponse()
        made = json.loads(answer.read())
        call.ended = time.monotonic()
        self.numbers[f"{call.verb} {answer.status}"] += 1
        if answer.status in (200, 201):
            if call.verb == "delete":
                call.outcome = "ok"
                known.pop(call.key, None)
                return
            call.outcome, call.revision = "ok", int(made["metadata"]["resourceVersion"])
            known[call.key] = call.revision
            if call.verb == "read":
                call.value = made["data"]["value"]
        elif call.verb == "read" and answer.status == 404:
            call.outcome = "ok"
        elif answer.status in (404, 409):
            call.outcome = "refused"
        elif answer.status not in (500, 503, 504):
            self.history.faults.append(f"{call}: {answer.status} {made}")

    def watch(self, number: int) -> None:
        """List once, then watch; after the end of a connection continue from the last revision."""
        watch = self.watches[number]
        while not self.stopped.is_set():
            with suppress(*BROKEN), closing(self.connection(3)) as connection:
                if not watch.spans:
                    connection.request("GET", MAPS)
                    listed = json.loads(connection.getresponse().read())
                    watch.spans.append((int(listed["metadata"]["resourceVersion"]), []))
                self._follow(connection, watch)
            time.sleep(0.05)

    def catch_up(self, seconds: float) -> None:
        """Make a last write and wait until each watcher has seen it, and so all that was acknowledged before it."""
        with closing(self.connection(seconds)) as connection:
            connection.request(
                "POST", MAPS, json.dumps({"metadata": {"name": "last"}, "data": {"value": "last"}}), CONTENT
            )
            last = int(json.loads(connection.getresponse().read())["metadata"]["resourceVersion"])
        end = time.monotonic() + seconds
        while behind := [number for number, watch in enumerate(self.watches) if not watch.has_seen(last)]:
            if time.monotonic() > end:
                self.history.faults.append(f"watchers {behind} have not seen revision {last} after {seconds} s")
                return
            time.sleep(0.05)

    def _follow(self, connection: http.client.HTTPConnection, watch: Watch) -> None:
        start, found = watch.spans[-1]
        since = found[-1] if found else start
        connection.request("GET", f"{MAPS}?watch=true&resourceVersion={since}")
        answer = connection.getresponse()
        self.numbers[f"watch {answer.status}"] += 1
        while line := answer.readline():
            event = json.loads(line)
            if event["type"] == "ERROR":
                self.history.faults.append(f"a watch from {since}: {event['object'].get('message')}")
                watch.spans.clear()
                return
            metadata = event["object"]["metadata"]
            revision = int(metadata["resourceVersion"])
            self.history.see(revision, Seen(event["type"], metadata["name"], event["object"]["data"]["value"]))
            found.append(revision)


def start(tmp_path: Path, port: int = 0) -> Process:
    return Process(tmp_path, "--port", str(port), "--insecure", "--data-dir", str(tmp_path / "data"))


@pytest.mark.long
def test_what_clients_see_through_kills_has_one_explanation(tmp_path: Path) -> None:
    server = start(tmp_path)
    port = int(server.url.rpartition(":")[2])
    clients, dice, kills = Clients(port), random.Random(1), 0
    threads = [threading.Thread(target=clients.write, args=[number]) for number in range(WRITERS)]
    threads += [threading.Thread(target=clients.watch, args=[number]) for number in range(WATCHERS)]
    for thread in threads[WRITERS:]:
        thread.start()
    while not all(watch.spans for watch in clients.watches):
        time.sleep(0.05)
    for thread in threads[:WRITERS]:
        thread.start()
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end:
            time.sleep(dice.uniform(2, 10))
            server.process.kill()
            server.process.wait()
            server.output.close()
            kills += 1
            server = start(tmp_path, port)
            assert server.url, "the server did not start again"
        clients.written.set()
        for thread in threads[:WRITERS]:
            thread.join(30)
        clients.catch_up(60)
    finally:
        clients.written.set()
        clients.stopped.set()
        server.end()
    for thread in threads:
        thread.join(30)
    violations = list(clients.history.violations(clients.calls, clients.watches))
    acknowledged = sum(call.outcome == "ok" and call.verb != "read" for call in clients.calls)
    events = sum(len(found) for watch in clients.watches for _, found in watch.spans)
    figures = f"{SECONDS:.0f} s, {kills} kills, {len(clients.calls)} calls, {acknowledged} acknowledged writes"
    print(f"\n{figures}, {len(clients.history.changes)} revisions, {events} events seen, {len(violations)} violations")
    print(dict(sorted(clients.numbers.items())))
    assert not violations[:10]
    assert acknowledged > 10 * SECONDS / 30
    assert events > acknowledged
