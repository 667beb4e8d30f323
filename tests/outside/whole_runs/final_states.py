"""The same shape in three places: `seatrial run`, and `serve` with the embedded scheduler or with a real one.

Compared is where all pods are in the end. A scenario tries every pending pod at least twice in a step and has virtual
time, so attempts and times are its own.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from seatrial import Result
from seatrial.model.times import SECOND, to_time
from tests.outside.processes import OF_THE_PROGRAMS
from tests.outside.whole_runs.api import Api
from tests.outside.whole_runs.playing import FIRST_START
from tests.outside.whole_runs.shape import Document, Operation, Shape

SEATRIAL = Path(sys.executable).with_name("seatrial")
HEAD: Document = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
SCENARIO = "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1"
QUIET = 4
"""How often in a row nothing must have changed."""
IsBusy = Callable[[], bool]


def scenario_of(shape: Shape) -> Document:
    """A Scenario in which every operation of a shape is a step."""
    operations: list[Document] = []
    for number, operation in enumerate((operation for step in shape.steps for operation in step), 1):
        target = {
            "typeMeta": {"apiVersion": operation.api_version, "kind": operation.kind},
            "objectMeta": {"name": operation.name, "namespace": "default"},
        }
        if operation.verb == "create":
            document = {key: value for key, value in operation.body.items() if key != "status"}
            made = operation.body if operation.kind == "Node" else document
            operations.append({"step": number, "createOperation": {"object": made}})
        elif operation.verb == "delete":
            options = {"gracePeriodSeconds": 0}
            operations.append({"step": number, "deleteOperation": {**target, "deleteOptions": options}})
        else:
            patch = {"patch": json.dumps(operation.body), "patchType": "application/merge-patch+json"}
            more = {"subresource": operation.subresource}
            operations.append({"step": number, "patchOperation": {**target, **patch, **more}})
    operations.append({"step": len(operations) + 1, "doneOperation": {}})
    controllers = {"simulationControllers": {"enabled": [{"name": "scheduler"}]}}
    spec = {"controllers": controllers, "operations": operations}
    return {"apiVersion": SCENARIO, "kind": "Scenario", "metadata": {"name": "shape"}, "spec": spec}


def configuration_file(shape: Shape, directory: Path) -> Path:
    path = directory / "scheduler.json"
    path.write_text(json.dumps({**HEAD, **shape.config}))
    return path


def state_of_run(shape: Shape, directory: Path) -> dict[str, str]:
    """Pods and their nodes after `seatrial run`."""
    scenario, out = directory / "scenario.json", directory / "out"
    scenario.write_text(json.dumps(scenario_of(shape)))
    command = (SEATRIAL, "run", scenario, "--out", out, "--quiet", "--no-report", *OF_THE_PROGRAMS)
    config = ("--scheduler-config", configuration_file(shape, directory))
    done = subprocess.run(list(map(str, (*command, *config))), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rows = Result.load(out).pods.to_dicts()
    return {row["name"]: row["node"] or "" for row in rows if row["deleted"] is None}


class Server:
    """A server, and whether the scheduler that works on it is busy."""

    def __init__(self, url: str, is_busy: IsBusy) -> None:
        self.api = Api(url)
        self._is_busy = is_busy
        self._started: set[str] = set()

    def play(self, shape: Shape) -> dict[str, str]:
        """Carry a shape out; pods and their nodes afterwards."""
        for step in shape.steps:
            for operation in step:
                self._carry_out(operation)
                while self._act_as_kubelets():
                    pass
        return {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in self.api.listed("v1", "Pod")}

    def close(self) -> None:
        self.api.close()

    def _carry_out(self, operation: Operation) -> None:
        self.api.carry_out(operation)
        last: object = None
        quiet = 0
        end = time.monotonic() + 60
        while quiet < QUIET:
            assert time.monotonic() < end, "the server does not come to rest"
            time.sleep(0.02)
            now = self.api.listed("v1", "Pod")
            quiet = quiet + 1 if now == last and not self._is_busy() else 0
            last = now

    def _act_as_kubelets(self) -> bool:
        """One pod that is being deleted goes, or one bound pod runs; whether there was one."""
        for pod in self.api.listed("v1", "Pod"):
            name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
            if not pod["spec"].get("nodeName"):
                continue
            if pod["metadata"].get("deletionTimestamp"):
                self._carry_out(Operation("delete", "v1", "Pod", name))
                return True
            if uid not in self._started:
                self._started.add(uid)
                status = {"phase": "Running", "startTime": to_time((FIRST_START + len(self._started)) * SECOND)}
                self._carry_out(Operation("patch", "v1", "Pod", name, {"status": status}, "status"))
                return True
        return False


def waiting_pods(metrics: Mapping[str, float]) -> bool:
    """Whether the metrics of a scheduler show pods that it is going to try."""
    return any(value for name, value in metrics.items() if name.startswith("scheduler_pending_pods"))
