"""A real kube-scheduler and ours play the same churn: same placements up to ties, same pods that fail."""

import os
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from seatrial.model.times import SECOND, to_time
from tests.extender_server import handler
from tests.outside.churn import CLASSES, Api, Operation, Ours, RealScheduler, operations
from tests.outside.processes import OF_THE_PROGRAMS, Serve, free_port

RUNS = int(os.environ.get("SEATRIAL_CHURN_RUNS", "20"))
NODES, PODS = 50, 500


def _is_tried(pod: dict[str, Any]) -> bool:
    """Whether a scheduler has said something of a pod since its gates were gone."""
    if pod["spec"].get("schedulingGates"):
        return True
    said = [c for c in pod["status"].get("conditions", ()) if c["type"] == "PodScheduled"]
    return bool(said) and said[0].get("reason") != "SchedulingGated"


class Stage:
    """Both schedulers and the cluster between them."""

    def __init__(self, api: Api, real: RealScheduler, ours: Ours) -> None:
        self.api, self.real, self.ours = api, real, ours
        self.pending: set[str] = set()
        self.gone: set[str] = set()
        self.failed: set[str] = set()
        self.started = 0

    def play(self, operation: Operation) -> None:
        if operation.name in self.gone:
            return
        if operation.verb == "delete":
            self.gone.add(operation.name)
            self.pending.discard(operation.name)
        elif operation.verb == "create" and operation.kind == "Pod":
            self.pending.add(operation.name)
        self._both(operation)
        self._settle()

    def check_everything(self) -> None:
        """Every pod is where the other scheduler has it."""
        placed = {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in self.api.listed("Pod")}
        assert self.ours.placements() == placed

    def _both(self, operation: Operation) -> None:
        answer = self.api.carry_out(operation)
        self.ours.carry_out(operation, answer)

    def _settle(self) -> None:
        """Let both come to rest, stand in for kubelets, and do so again until there is nothing left to do."""
        for _ in range(50):
            waiting = self._waiting_for_the_real_one()
            bound = {name: self.api.pod(name) for name in sorted(self.pending - waiting)}
            places = {name: pod["spec"]["nodeName"] for name, pod in bound.items() if pod is not None}
            decisions = self.ours.rest(places)
            self.failed.update(d.pod.split("/")[1] for d in decisions if d.outcome == "unschedulable")
            assert {d.pod.split("/")[1]: d.node for d in decisions if d.node} == places
            self.pending &= waiting
            victims = [victim.split("/")[1] for d in decisions if d.preemption for victim in d.preemption.victims]
            self._evict(victims)
            self._start(sorted(places))
            if not victims:
                return
        raise AssertionError("the cluster does not come to rest")

    def _waiting_for_the_real_one(self) -> set[str]:
        """Let the real scheduler come to rest, with every pod tried at least once; the pods without a node."""
        for _ in range(200):
            self.real.rest()
            pods = self.api.listed("Pod", "?fieldSelector=spec.nodeName%3D")
            if all(map(_is_tried, pods)):
                return {pod["metadata"]["name"] for pod in pods}
        raise AssertionError("the real scheduler does not try all pods")

    def _evict(self, victims: list[str]) -> None:
        """The victims that we chose are those the other one chose: they were told to go, and they go."""
        for name in sorted(set(victims)):
            pod = self.api.pod(name)
            assert pod is not None
            assert pod["metadata"].get("deletionTimestamp"), f"{name} is no victim of the real scheduler"
            self.gone.add(name)
            self._both(Operation("delete", "Pod", name))

    def _start(self, names: list[str]) -> None:
        for name in names:
            if name not in self.gone:
                self.started += 1
                when = to_time((1_900_000_000 + self.started) * SECOND)
                status = {"status": {"phase": "Running", "startTime": when}}
                self._both(Operation("patch-status", "Pod", name, status))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serve]:
    with Serve(tmp_path / "state", "--no-scheduler", "--controllers", "", "--insecure", *OF_THE_PROGRAMS) as running:
        yield running


@pytest.fixture
def api(server: Serve) -> Iterator[Api]:
    client = Api(server.url)
    yield client
    client.close()


def furnish(api: Api, ours: Ours) -> None:
    for name, value in CLASSES.items():
        kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
        answer = api.call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {**kind, "value": value})
        ours.store.load([answer], writer="user:test")


@pytest.mark.parametrize("seed", range(RUNS))
def test_both_schedulers_place_and_refuse_the_same_pods(
    seed: int, programs: Path, server: Serve, api: Api, tmp_path: Path
) -> None:
    ours = Ours()
    furnish(api, ours)
    real = RealScheduler(programs / "kube-scheduler", server.kubeconfig, tmp_path / "real", free_port())
    with real:
        stage = Stage(api, real, ours)
        for operation in operations(seed, NODES, PODS):
            stage.play(operation)
        stage.check_everything()
        events = api.listed("Event")
    refused = {event["involvedObject"]["name"] for event in events if event["reason"] == "FailedScheduling"}
    assert stage.failed == refused
    assert len([node for node in ours.placements().values() if node]) > PODS / 4


@pytest.fixture
def extender() -> Iterator[str]:
    """An extender that likes nodes by their number and refuses every third one."""

    def answer(verb: str, args: Any) -> Any:
        names = args["NodeNames"]
        if verb == "prioritize":
            return [{"Host": name, "Score": int(name[1:]) % 11} for name in names]
        refused = {name: "not a third time" for name in names if int(name[1:]) % 3 == 0}
        return {"NodeNames": [name for name in names if name not in refused], "FailedNodes": refused}

    listening = ThreadingHTTPServer(("127.0.0.1", 0), handler(answer))
    listening.daemon_threads = True
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.server_port}"
    listening.shutdown()
    listening.server_close()
    thread.join()


def test_one_extender_leads_both_schedulers_to_the_same_picks(
    programs: Path, server: Serve, api: Api, tmp_path: Path, extender: str
) -> None:
    settings = {
        "urlPrefix": extender,
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "weight": 5,
        "nodeCacheCapable": True,
    }
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    ours = Ours({**head, "extenders": [settings]})
    furnish(api, ours)
    config = {"extenders": [settings]}
    real = RealScheduler(programs / "kube-scheduler", server.kubeconfig, tmp_path / "real", free_port(), config)
    with real, closing(ours.scheduler):
        stage = Stage(api, real, ours)
        for operation in operations(1000, 20, 60):
            stage.play(operation)
        stage.check_everything()
    assert len([node for node in ours.placements().values() if node]) > 20
