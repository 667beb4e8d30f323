"""A server whose disk is full serves nothing that is not on it, says so, and ends with exit code 2."""

import http.client
import json
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SEATRIAL = Path(sys.executable).with_name("seatrial")
MAPS = "/api/v1/namespaces/default/configmaps"


class Server:
    """A running `seatrial serve` without a token."""

    def __init__(self, data: Path, *, largest_file: int = 0) -> None:
        def limit() -> None:
            if largest_file:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, resource.RLIM_INFINITY))

        flags = ["--port", "0", "--insecure", "--no-scheduler", "--controllers", "serviceaccount"]
        self.process = subprocess.Popen(
            [str(SEATRIAL), "serve", "--data-dir", str(data), *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=limit,
        )
        assert self.process.stdout is not None
        self.port = 0
        for line in self.process.stdout:
            if found := re.match(r"ready: http://127.0.0.1:(\d+)", line):
                self.port = int(found[1])
                break

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        data = json.dumps(body) if body is not None else None
        connection.request(method, path, data, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        found = answer.status, answer.read()
        connection.close()
        return found

    def create(self, name: str, size: int = 50_000) -> int:
        """Create a ConfigMap; the status of the answer."""
        return self.call("POST", MAPS, {"metadata": {"name": name}, "data": {"value": "x" * size}})[0]

    def ended(self) -> tuple[int, str]:
        """Wait for the end; the exit code and what was said on standard error."""
        assert self.process.stderr is not None
        said = self.process.stderr.read()
        return self.process.wait(60), said


@contextmanager
def serving(data: Path, *, largest_file: int = 0) -> Iterator[Server]:
    server = Server(data, largest_file=largest_file)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.send_signal(signal.SIGTERM)
        server.process.wait(60)
        for stream in (server.process.stdout, server.process.stderr):
            if stream is not None:
                stream.close()


def names(answer: bytes) -> set[str]:
    return {item["metadata"]["name"] for item in json.loads(answer)["items"]} - {"kube-root-ca.crt"}


def test_a_full_disk_ends_the_server_and_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    with serving(tmp_path, largest_file=2_000_000) as server:
        watch = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        watch.request("GET", f"{MAPS}?watch=true&resourceVersion=")
        events = watch.getresponse()
        acknowledged, number = set(), 0
        while server.create(f"m{number}") == 201:
            acknowledged.add(f"m{number}")
            number += 1
        seen = [json.loads(line) for line in events.read().splitlines()]
        code, said = server.ended()
        watch.close()
    shown = {event["object"]["metadata"]["name"] for event in seen if event["type"] == "ADDED"} - {"kube-root-ca.crt"}
    assert shown <= acknowledged, "no watcher saw a write that is not on disk"
    revision = max(int(e["object"]["metadata"]["resourceVersion"]) for e in seen if e["type"] == "ADDED")
    assert code == 2
    assert f"seatrial: {tmp_path / 'store' / 'store.db'}: the write could not be made durable" in said
    assert "Traceback" not in said
    assert len(acknowledged) > 5

    with serving(tmp_path) as again:
        status, answer = again.call("GET", MAPS)
        assert status == 200
        assert acknowledged <= names(answer) <= acknowledged | {f"m{number}"}
        assert int(json.loads(answer)["metadata"]["resourceVersion"]) >= revision


def test_a_full_disk_at_the_start_is_refused_with_the_file(tmp_path: Path) -> None:
    with serving(tmp_path, largest_file=8192) as server:
        code, said = server.ended()
    assert code == 2
    assert str(tmp_path) in said
    assert "Traceback" not in said
