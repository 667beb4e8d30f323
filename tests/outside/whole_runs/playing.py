"""Plays a shape to both sides and compares them after every step."""

import time

from seatrial.model.times import SECOND, to_time
from tests.outside.whole_runs.shape import Operation, Shape
from tests.outside.whole_runs.sides import OurSide, ServedSide

PATIENCE = 5.0
"""Seconds until what is written in the background must be there."""
FIRST_START = 1_900_000_000


class Stage:
    """Both sides, and what stands in for kubelets."""

    def __init__(self, shape: Shape, real: ServedSide, ours: OurSide) -> None:
        self.shape, self.real, self.ours = shape, real, ours
        self.started: set[str] = set()
        self.has_pods = False

    def play(self) -> None:
        for number, step in enumerate(self.shape.steps, 1):
            time.sleep(self.shape.pause)
            for operation in step:
                self._both(operation)
            time.sleep(self.shape.seconds)
            self._settle(f"{self.shape.name}, step {number}")
        time.sleep(0.3)
        self._settle(f"{self.shape.name}, the end")
        pods = self.real.observe().pods
        assert self.shape.expects(pods), f"{self.shape.name} has lost its point: {pods}"

    def _both(self, operation: Operation) -> None:
        """Carry an operation out; with pods in the cluster both schedulers may answer to it."""
        self.ours.carry_out(operation, self.real.carry_out(operation))
        self.has_pods = self.has_pods or operation.kind == "Pod"
        if self.has_pods:
            self.real.rest()
            self.ours.rest()

    def _settle(self, where: str) -> None:
        for _ in range(50):
            self.real.rest()
            self.ours.rest()
            self._compare(where)
            if not self.shape.starts_pods or not self._act_as_kubelets():
                return
        raise AssertionError(f"{where}: the cluster does not come to rest")

    def _compare(self, where: str) -> None:
        end = time.monotonic() + PATIENCE
        while True:
            lines = self.ours.observe().differences(self.real.observe())
            left = [line for line in lines if not any(line.startswith(f"{part}:") for part in self.shape.random)]
            if not left:
                return
            if time.monotonic() > end:
                raise AssertionError("\n".join((f"{where}: the schedulers differ", *left)))
            time.sleep(0.05)
            self.real.rest()
            self.ours.rest()

    def _act_as_kubelets(self) -> bool:
        """Pods that are being deleted go, bound pods run; whether there was anything to do."""
        acted = False
        for pod in self.real.api.listed("v1", "Pod"):
            name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
            if not pod["spec"].get("nodeName"):
                continue
            if pod["metadata"].get("deletionTimestamp"):
                self._both(Operation("delete", "v1", "Pod", name))
                acted = True
            elif uid not in self.started:
                self.started.add(uid)
                status = {"phase": "Running", "startTime": to_time((FIRST_START + len(self.started)) * SECOND)}
                self._both(Operation("patch", "v1", "Pod", name, {"status": status}, "status"))
                acted = True
        return acted
