"""An extender that does not answer holds nobody up but the pod that it was asked about."""

import threading
import time
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson
import pytest

from seatrial.clock.real import RealClock
from seatrial.control_plane.scheduler import EmbeddedScheduler
from seatrial.model.builtin import builtin_kinds
from seatrial.scenario.cluster import furnish
from seatrial.store.store import Store
from tests.extender_server import handler
from tests.known_kinds import known_kind
from tests.scenario.running import node, pod


class Extender:
    """Accepts every node, once it is let go."""

    def __init__(self) -> None:
        self.asked, self.let_go = threading.Event(), threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self._answer))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def _answer(self, verb: str, args: dict[str, Any]) -> dict[str, Any]:
        self.asked.set()
        assert self.let_go.wait(30)
        return {"NodeNames": args["NodeNames"]}

    @property
    def configuration(self) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self.server.server_address[1]}"
        extender = {"urlPrefix": url, "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "30s"}
        head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        return head | {"extenders": [extender]}


@pytest.fixture
def extender() -> Iterator[Extender]:
    made = Extender()
    yield made
    made.let_go.set()
    made.server.shutdown()
    made.server.server_close()


class Stage:
    def __init__(self, extender: Extender, folder: Path) -> None:
        file = folder / "config.json"
        file.write_bytes(orjson.dumps(extender.configuration))
        clock = RealClock()
        self.store = Store(builtin_kinds(), clock)
        furnish(self.store)
        self.scheduler = EmbeddedScheduler.build(self.store, clock, file, "", ())
        self.create(node("n"))

    def create(self, document: dict[str, Any]) -> None:
        kind = known_kind(self.store.kinds, document["apiVersion"], document["kind"])
        self.store.create(kind, document, writer="test")

    def node_of(self, name: str) -> str:
        pods = known_kind(self.store.kinds, "v1", "Pod")
        node: str = self.store.get(pods, name, "default").document()["spec"].get("nodeName", "")
        return node

    def work_until(self, is_done: Callable[[], bool]) -> None:
        for _ in range(2000):
            if is_done():
                return
            if not (self.scheduler.has_work() and self.scheduler.work()):
                time.sleep(0.005)
        raise AssertionError("never done")


def test_an_attempt_that_waits_for_an_extender_gives_its_turn_away(extender: Extender, tmp_path: Path) -> None:
    stage = Stage(extender, tmp_path)
    stage.create(pod("x"))
    assert stage.scheduler.work() is False
    assert extender.asked.wait(10)
    assert not stage.scheduler.has_work()
    stage.create(node("later"))
    extender.let_go.set()
    stage.work_until(lambda: stage.node_of("x") == "n")
    stage.create(pod("y"))
    stage.work_until(lambda: stage.node_of("y") == "later")


def test_the_pump_is_woken_by_the_answer(extender: Extender, tmp_path: Path) -> None:
    stage, woken = Stage(extender, tmp_path), threading.Event()
    stage.scheduler.wake_by(woken.set)
    stage.create(pod("x"))
    stage.scheduler.work()
    extender.let_go.set()
    assert woken.wait(10)
    stage.work_until(lambda: stage.node_of("x") == "n")


def test_a_scheduler_that_is_stopped_meanwhile_starts_afresh(extender: Extender, tmp_path: Path) -> None:
    stage = Stage(extender, tmp_path)
    stage.create(pod("x"))
    stage.scheduler.work()
    stage.scheduler.scheduler.stop()
    stage.scheduler.scheduler.start()
    extender.let_go.set()
    stage.work_until(lambda: stage.node_of("x") == "n")
