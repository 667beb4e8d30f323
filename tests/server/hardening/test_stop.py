"""SIGTERM ends a server within 5 s, whatever it is doing, and what it has acknowledged is there afterwards."""

import asyncio
import http.client
import json
import os
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from seatrial.server import Application, Metrics
from seatrial.server.application import Message
from seatrial.server.auth import Identities
from seatrial.server.extension_points import Route
from seatrial.server.messages import Answer, Request
from seatrial.server.pools import Pools
from seatrial.store.deferral import Turn
from tests.server.hardening.test_hardening import MAPS, OPEN, ask, config_map
from tests.server.probing import seconds_to_end
from tests.server.test_process import SEATRIAL, serving

SPINNING = """
import time
from pathlib import Path
from seatrial.plugins import Plugin

class Spin(Plugin):
    def filter_one(self, pod, node):
        Path({mark!r}).touch()
        while True:
            {body}
"""
PROFILE = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {enabled: [{name: Spin}]}}}]
"""
NODE = b'{"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","memory":"4Gi","pods":"10"}}}'
POD = b'{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}'


def ask_for_pod(url: str) -> None:
    """The plugin may begin before the answer is sent, which then never comes."""
    with suppress(OSError, http.client.HTTPException):
        ask(url, "POST", "/api/v1/namespaces/default/pods", POD, timeout=120, content_type="application/json")


@pytest.mark.parametrize("body", ["pass", "time.sleep(1)"])
def test_a_plugin_that_never_returns_delays_no_stop(tmp_path: Path, body: str) -> None:
    mark = tmp_path / "begun"
    (tmp_path / "spin.py").write_text(SPINNING.format(mark=str(mark), body=body))
    (tmp_path / "profile.yaml").write_text(PROFILE)
    own = "--plugins", str(tmp_path / "spin.py"), "--scheduler-config", str(tmp_path / "profile.yaml")
    command = [str(SEATRIAL), "serve", *OPEN, "--data-dir", str(tmp_path / "data"), *own]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"HOME": str(tmp_path)})
    try:
        assert process.stdout is not None
        url = [process.stdout.readline() for _ in range(2)][1].strip().removeprefix("ready: ")
        assert ask(url, "POST", MAPS, config_map("kept"), content_type="application/json")[0] == 201
        assert ask(url, "POST", "/api/v1/nodes", NODE, content_type="application/json")[0] == 201
        asking = threading.Thread(target=ask_for_pod, args=[url])
        asking.start()
        deadline = time.monotonic() + 120
        while not mark.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert seconds_to_end(process) < 6
        assert process.returncode == 0
        asking.join(120)
    finally:
        process.kill()
        process.wait()
        process.stdout and process.stdout.close()
    with serving(tmp_path, *OPEN, "--data-dir", str(tmp_path / "data")) as server:
        assert ask(server.url, "GET", f"{MAPS}/kept")[0] == 200


def test_a_watch_continues_after_a_restart(tmp_path: Path) -> None:
    flags = *OPEN, "--data-dir", str(tmp_path / "data")
    with serving(tmp_path, *flags) as server:
        revisions = []
        for name in ("a", "b", "c"):
            status, made = ask(server.url, "POST", MAPS, config_map(name), content_type="application/json")
            assert status == 201
            revisions.append(made["metadata"]["resourceVersion"])
        assert ask(server.url, "DELETE", f"{MAPS}/b")[0] == 200
        server.process.kill()
    with serving(tmp_path, *flags) as server:
        status, text = ask(server.url, "GET", f"{MAPS}?watch=true&resourceVersion={revisions[0]}&timeoutSeconds=1")
    assert status == 200
    events = [line for line in text.decode().splitlines() if line]
    assert [line[: line.index(",")] for line in events] == [
        '{"type":"ADDED"', '{"type":"ADDED"', '{"type":"DELETED"',
    ]  # fmt: skip


class Waiting:
    """An endpoint that waits for ever, or answers at once."""

    def __init__(self, *, answers: bool) -> None:
        self._answers = answers

    def find(self, method: str, path: str) -> Route:
        return Route(self._endpoint, public=True)

    async def _endpoint(self, request: Request) -> Answer:
        if not self._answers:
            await asyncio.Event().wait()
        return Answer(b"{}", 201)


@pytest.mark.parametrize("answers", [False, True])
def test_a_request_that_a_stop_cuts_off_is_told_so(answers: bool) -> None:
    """It was answered 500. One that has its answer already may wait for the disk."""

    async def cut_off() -> list[Message]:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        async def receive() -> Message:
            return {"type": "http.request", "body": b"{}"}

        async def durable() -> None:
            await asyncio.Event().wait()

        routes = Waiting(answers=answers)
        application = Application(
            NoApi(), Identities(b"key"), Metrics(), [routes], max_request_bytes=1 << 20, durable=durable
        )
        scope = {"type": "http", "method": "POST", "path": "/x", "headers": [], "query_string": b"", "raw_path": b"/x"}
        task = asyncio.ensure_future(application(scope, receive, send))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait_for(task, 10)
        return sent

    head, body = asyncio.run(cut_off())
    assert (head["status"], json.loads(body["body"])["message"]) == (503, "the server is shutting down")


class NoApi:
    def find(self, method: str, path: str) -> None:
        return None


def test_a_request_that_ends_after_a_stop_frees_nothing() -> None:
    pools = Pools()
    pools.close()
    pools.free(Turn())
