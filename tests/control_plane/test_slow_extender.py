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
from seatrial.control_plane.components import Settings, compose
from seatrial.control_plane.scheduler import EmbeddedScheduler
from seatrial.model.builtin import builtin_kinds
from seatrial.scenario.cluster import furnish
from seatrial.scenario.scenario_controller import ScenarioController
from seatrial.scenario.spec.kind import SCENARIO
from seatrial.store.store import Store
from tests.extender_server import handler
from tests.known_kinds import known_kind
from tests.scenario.playing import create, done, operations, scenario
from tests.scenario.running import node, pod


class Extender:
    """Accepts every node, once it is let go."""

    timeout = "120s"

    def __init__(self) -> None:
        self.asked, self.let_go = threading.Event(), threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self._answer))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def write(self, folder: Path) -> Path:
        """A scheduler configuration that names it."""
        file = folder / "config.json"
        file.write_bytes(orjson.dumps(self.configuration))
        return file

    def _answer(self, verb: str, args: dict[str, Any]) -> dict[str, Any]:
        self.asked.set()
        assert self.let_go.wait(120)
        return {"NodeNames": args["NodeNames"]}

    @property
    def configuration(self) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self.server.server_address[1]}"
        extender = {"urlPrefix": url, "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": self.timeout}
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
        clock = RealClock()
        self.store = Store(builtin_kinds(), clock)
        furnish(self.store)
        self.scheduler = EmbeddedScheduler.build(self.store, clock, (extender.write(folder), "", ""), ())
        self.create(node("n"))

    def create(self, document: dict[str, Any]) -> None:
        kind = known_kind(self.store.kinds, document["apiVersion"], document["kind"])
        self.store.create(kind, document, writer="test")

    def node_of(self, name: str) -> str:
        pods = known_kind(self.store.kinds, "v1", "Pod")
        node: str = self.store.get(pods, name, "default").document()["spec"].get("nodeName", "")
        return node

    def work_until(self, is_done: Callable[[], bool]) -> None:
        for _ in range(12_000):
            if is_done():
                return
            if not (self.scheduler.has_work() and self.scheduler.work()):
                time.sleep(0.005)
        raise AssertionError("never done")


def test_an_attempt_that_waits_for_an_extender_gives_its_turn_away(extender: Extender, tmp_path: Path) -> None:
    stage = Stage(extender, tmp_path)
    stage.create(pod("x"))
    assert stage.scheduler.work() is False
    assert extender.asked.wait(60)
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
    assert woken.wait(60)
    stage.work_until(lambda: stage.node_of("x") == "n")


def test_a_scheduler_that_is_stopped_meanwhile_starts_afresh(extender: Extender, tmp_path: Path) -> None:
    stage = Stage(extender, tmp_path)
    stage.create(pod("x"))
    stage.scheduler.work()
    stage.scheduler.scheduler.stop()
    stage.scheduler.scheduler.start()
    extender.let_go.set()
    stage.work_until(lambda: stage.node_of("x") == "n")


class ServedScenario:
    """A server whose scheduler has an extender, and a Scenario in it."""

    def __init__(self, extender: Extender, folder: Path) -> None:
        self.parts = compose(Settings(scheduler_config=extender.write(folder), controllers=()))
        self.controller = next(worker for worker in self.parts.workers if isinstance(worker, ScenarioController))
        self.create("first")

    def create(self, name: str) -> None:
        document = scenario(operations(create(1, node("n")), create(1, pod("a")), create(2, pod("b")), done(2)))
        document["metadata"]["name"] = name
        self.parts.store.create(SCENARIO, document, writer="user:admin")

    def status(self, name: str = "first") -> dict[str, Any]:
        status: dict[str, Any] = self.parts.store.get(SCENARIO, name).document().get("status") or {}
        return status

    def work_until(self, is_done: Callable[[], bool]) -> None:
        for _ in range(12_000):
            if is_done():
                return
            if not (self.controller.has_work() and self.controller.work()):
                time.sleep(0.005)
        raise AssertionError("never done")


@pytest.fixture
def served(extender: Extender, tmp_path: Path) -> Iterator[ServedScenario]:
    extender.timeout = "20s"
    made = ServedScenario(extender, tmp_path)
    yield made
    extender.let_go.set()
    for stop in made.parts.on_stop:
        stop()


def test_a_served_scenario_that_waits_for_an_extender_gives_its_turn_away(
    extender: Extender, served: ServedScenario
) -> None:
    """Before, the extender could not answer in time here: the only thread of the server waited for it."""
    served.work_until(lambda: extender.asked.is_set() and not served.controller.has_work())
    woken = threading.Event()
    served.controller.wake_by(woken.set)
    extender.let_go.set()
    assert woken.wait(60)
    served.work_until(lambda: served.status().get("phase") == "Succeeded")
    timeline = served.status()["scenarioResult"]["timeline"]
    scheduled = [entry["id"] for step in timeline.values() for entry in step if "podScheduled" in entry]
    assert len(scheduled) == 2


def test_a_write_while_a_served_scenario_waits_is_seen_by_the_next_attempt(
    extender: Extender, served: ServedScenario
) -> None:
    served.work_until(extender.asked.is_set)
    kind = known_kind(served.parts.store.kinds, "v1", "Node")
    served.parts.store.create(kind, node("later"), writer="user:admin")
    extender.let_go.set()
    served.work_until(lambda: served.status().get("phase") == "Succeeded")
    pods = known_kind(served.parts.store.kinds, "v1", "Pod")
    assert [stored.document()["spec"]["nodeName"] for stored in served.parts.store.list(pods)] == ["n", "later"]


def test_a_scenario_that_is_deleted_while_it_waits_lets_the_next_one_run(
    extender: Extender, served: ServedScenario
) -> None:
    served.work_until(extender.asked.is_set)
    served.parts.store.delete(SCENARIO, "first", writer="user:admin")
    served.create("second")
    served.work_until(lambda: served.controller.run is not None and served.status("second") != {})
    extender.let_go.set()
    served.work_until(lambda: served.status("second").get("phase") == "Succeeded")
