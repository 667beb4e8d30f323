"""Churn runs: one seeded list of operations, played to a real kube-scheduler and to ours side by side.

After each operation both come to rest. What the API server made of an object is copied into our store as it is, so
that both schedulers see the same documents. The test stands in for kubelets: bound pods start, one each second, and
victims are gone once they were told to go.
"""

import http.client
import json
import random
import re
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.kinds import Kind
from seatrial.scenario.cluster import furnish
from seatrial.scheduler.config import load_configuration
from seatrial.scheduler.schedule_one.decision import Decision
from seatrial.scheduler.schedule_one.recorder import ListRecorder
from seatrial.scheduler.schedule_one.select_host import TieBreak
from seatrial.scheduler.scheduler import Scheduler
from seatrial.scheduler.versions import VERSIONS
from seatrial.store.admission import StandardAdmission
from seatrial.store.options import DeleteOptions
from seatrial.store.store import Store
from tests.known_kinds import known_kind
from tests.outside.processes import OF_THE_PROGRAMS

Document = dict[str, Any]
PATHS = {
    "Node": "/api/v1/nodes",
    "Pod": "/api/v1/namespaces/default/pods",
    "Event": "/api/v1/namespaces/default/events",
}
CLASSES = {"low": 10, "middle": 100, "high": 1000}
COUNTED = re.compile(
    r"^(scheduler_pending_pods\{queue=\"(?:active|backoff)\"\}|scheduler_schedule_attempts_total\{.*|"
    r"scheduler_event_handling_duration_seconds_count\{.*) (\S+)$",
    re.MULTILINE,
)


class Operation(NamedTuple):
    """Something that happens to an object; `change` is a merge patch, None deletes it, a create has a document."""

    verb: str
    kind: str
    name: str
    body: Any = None


class Api:
    """A plain HTTP client of a server without TLS."""

    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        self._connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": kind})
        answer = self._connection.getresponse()
        data = answer.read()
        assert answer.status < 300 or answer.status == 404, data
        return json.loads(data)

    def carry_out(self, operation: Operation) -> Any:
        path = PATHS[operation.kind]
        if operation.verb == "create":
            return self.call("POST", path, operation.body)
        if operation.verb == "delete":
            return self.call("DELETE", f"{path}/{operation.name}", {"gracePeriodSeconds": 0})
        subresource = "/status" if operation.verb == "patch-status" else ""
        return self.call(
            "PATCH", f"{path}/{operation.name}{subresource}", operation.body, "application/merge-patch+json"
        )

    def listed(self, kind: str, query: str = "") -> list[Document]:
        items: list[Document] = self.call("GET", PATHS[kind] + query)["items"]
        return items

    def pod(self, name: str) -> Document | None:
        """A pod, or None where it is gone."""
        found = self.call("GET", f"{PATHS['Pod']}/{name}")
        return found if found["kind"] == "Pod" else None

    def close(self) -> None:
        self._connection.close()


class RealScheduler:
    """A kube-scheduler process, and whether it is at rest."""

    def __init__(
        self,
        program: Path,
        kubeconfig: Path,
        directory: Path,
        port: int,
        config: Document | None = None,
        gates: Mapping[str, bool] | None = None,
        verbosity: int = 0,
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        document = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "parallelism": 1,
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 5000, "burst": 10000},
            **(config or {}),
        }
        (directory / "config.json").write_text(json.dumps(document))
        switched = {"OpportunisticBatching": False} if gates is None else gates
        self._command = [
            str(program), "--config", str(directory / "config.json"), "--secure-port", str(port),
            "--cert-dir", str(directory / "certs"), "-v", str(verbosity),
            "--feature-gates", ",".join(f"{name}={str(on).lower()}" for name, on in switched.items()),
            "--authorization-always-allow-paths", "/metrics,/healthz",
        ]  # fmt: skip
        self._log = directory / "log"
        self._port = port
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self._connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=context)

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                self.counts()
                return self
            except OSError:
                self._connection.close()
                time.sleep(0.2)
        raise AssertionError(self._log.read_text())

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self._process.terminate()
        self._process.wait(20)

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def metrics(self) -> str:
        """All metrics as text."""
        self._connection.request("GET", "/metrics")
        return self._connection.getresponse().read().decode()

    def counts(self) -> dict[str, float]:
        return {name: float(value) for name, value in COUNTED.findall(self.metrics())}

    def rest(self, backing_off: int = 0) -> None:
        """Wait until nothing is left to do, but for so many pods after an error, and nothing happens for a moment."""
        quiet = 0
        last: dict[str, float] = {}
        end = time.monotonic() + 60
        while quiet < 3:
            assert time.monotonic() < end, "the real scheduler does not come to rest"
            time.sleep(0.01)
            now = self.counts()
            waiting = sum(value for name, value in now.items() if "pending_pods" in name and "active" in name)
            delayed = sum(value for name, value in now.items() if "pending_pods" in name and "backoff" in name)
            quiet = quiet + 1 if now == last and not waiting and delayed <= backing_off else 0
            last = now


class FollowingTieBreak(TieBreak):
    """Takes the node the other scheduler took where it is among the best; else whatever upstream would."""

    def __init__(self) -> None:
        super().__init__("upstream")
        self.wanted = ""

    def among(self, tied: Any, names: Any) -> int:
        for place in tied.tolist():
            if names(place) == self.wanted:
                return int(place)
        return super().among(tied, names)


class Ours:
    """Our scheduler on a store that is a copy of the server's."""

    def __init__(self, config: Document | None = None) -> None:
        self.clock = Clock(time.time_ns() // 1000)
        self.store = Store(builtin_kinds(), self.clock, admission=StandardAdmission())
        furnish(self.store)
        self.recorder = ListRecorder()
        configuration = load_configuration(config, version=VERSIONS[OF_THE_PROGRAMS[1]])
        self.scheduler = Scheduler(self.store, self.clock, configuration, recorder=self.recorder)
        self.tie_break = self.scheduler.algorithm.tie_break = FollowingTieBreak()
        self.scheduler.start()

    def kind(self, name: str) -> Kind:
        return known_kind(self.store.kinds, "v1", name)

    def carry_out(self, operation: Operation, answer: Document) -> None:
        namespace = "default" if operation.kind == "Pod" else ""
        kind = self.kind(operation.kind)
        if operation.verb == "create":
            self.store.load([answer], writer="user:test")
        elif operation.verb == "delete":
            options = DeleteOptions(grace_period_seconds=0)
            self.store.delete(kind, operation.name, writer="user:test", namespace=namespace, options=options)
        else:
            status = "status" if operation.verb == "patch-status" else ""
            self.store.modify(
                kind,
                operation.name,
                lambda document: merge(document, operation.body),
                writer="user:test",
                namespace=namespace,
                subresource=status,
            )

    def rest(self, nodes: dict[str, str]) -> list[Decision]:
        """Schedule until nothing is left to do; `nodes` says where the other scheduler put pods."""
        before = len(self.recorder.decisions)
        self.clock.advance(time.time_ns() // 1000)
        # Which of two waiting pods is first depends on when exactly each failed, to the second: as with ties, ours
        # follows. A pod that ours does not think worth another try is not helped by that.
        backing_off = [queued.pod for queued in self.scheduler.queue.backoff if queued.pod.name in nodes]
        self.scheduler.queue.activate(backing_off)
        while self.scheduler.has_work():
            first = self.scheduler.queue.active.peek() or self.scheduler.queue.backoff.ordinary.peek()
            self.tie_break.wanted = nodes.get(first.pod.name, "") if first is not None else ""
            self.scheduler.schedule_one()
        return self.recorder.decisions[before:]

    def placements(self) -> dict[str, str]:
        found = [stored.document() for stored in self.store.list(self.kind("Pod"))]
        return {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in found}


def merge(document: Document, patch: Document) -> None:
    """Apply a JSON merge patch in place."""
    for key, value in patch.items():
        if value is None:
            document.pop(key, None)
        elif isinstance(value, dict) and isinstance(document.get(key), dict):
            merge(document[key], value)
        else:
            document[key] = value


# -- what happens --------------------------------------------------------------------------------------------------


def node(name: str, dice: random.Random) -> Document:
    amounts = {"cpu": str(dice.choice([2, 4, 8])), "memory": f"{dice.choice([8, 16, 32])}Gi", "pods": "30"}
    labels = {
        "kubernetes.io/hostname": name,
        "topology.kubernetes.io/zone": dice.choice("abc"),
        "disk": dice.choice(["ssd", "hdd"]),
    }
    spec: Document = {}
    if dice.random() < 0.15:
        spec["taints"] = [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def pod(name: str, dice: random.Random, class_name: str) -> Document:
    app = dice.choice("uvwxyz")
    selector = {"labelSelector": {"matchLabels": {"app": app}}}
    requests = {"cpu": f"{dice.choice([100, 250, 500, 1000, 1500])}m", "memory": f"{dice.choice([128, 512, 2048])}Mi"}
    spec: Document = {
        "containers": [{"name": "c", "image": f"image-{app}", "resources": {"requests": requests}}],
        "priorityClassName": class_name,
        "terminationGracePeriodSeconds": 30,
    }
    affinity: Document = {}
    zone, host = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    match dice.randrange(10):
        case 0:
            spec["nodeSelector"] = {"disk": dice.choice(["ssd", "hdd"])}
        case 1:
            spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
        case 2:
            affinity["podAntiAffinity"] = {required: [{**selector, "topologyKey": host}]}
        case 3:
            affinity["podAffinity"] = {required: [{**selector, "topologyKey": zone}]}
        case 4:
            constraint = {"maxSkew": 2, "topologyKey": zone, "whenUnsatisfiable": "DoNotSchedule", **selector}
            spec["topologySpreadConstraints"] = [constraint]
        case 5:
            spec["schedulingGates"] = [{"name": "example.com/later"}]
    if affinity:
        spec["affinity"] = affinity
    metadata = {"name": name, "namespace": "default", "labels": {"app": app}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def operations(seed: int, nodes: int, pods: int) -> Iterator[Operation]:
    """A seeded history: nodes come first, then pods, between them changes of all sorts; preemptors towards the end."""
    dice = random.Random(seed)
    for number in range(nodes):
        yield Operation("create", "Node", f"n{number:02}", node(f"n{number:02}", dice))
    gated: list[str] = []
    made = nodes
    for number in range(pods):
        late = number > pods * 0.7
        class_name = dice.choice(["middle", "high"] if late and dice.random() < 0.3 else ["low", "low", "middle"])
        body = pod(f"p{number:03}", dice, class_name)
        yield Operation("create", "Pod", f"p{number:03}", body)
        if "schedulingGates" in body["spec"]:
            gated.append(f"p{number:03}")
        name = f"n{dice.randrange(nodes):02}"
        match dice.randrange(24):
            case 0 if gated:
                yield Operation("patch", "Pod", gated.pop(0), {"spec": {"schedulingGates": None}})
            case 1:
                yield Operation("patch", "Node", name, {"spec": {"unschedulable": True}})
            case 2:
                yield Operation("patch", "Node", name, {"spec": {"unschedulable": None}})
            case 3:
                yield Operation("patch", "Node", name, {"metadata": {"labels": {"disk": dice.choice(["ssd", "hdd"])}}})
            case 4:
                yield Operation("patch", "Node", name, {"spec": {"taints": None}})
            case 5:
                amounts = {"cpu": str(dice.choice([4, 8])), "memory": "32Gi", "pods": "30"}
                yield Operation("patch-status", "Node", name, {"status": {"allocatable": amounts}})
            case 6:
                yield Operation("create", "Node", f"n{made:02}", node(f"n{made:02}", dice))
                made += 1
            case 7 | 8 if number > 20:
                yield Operation("delete", "Pod", f"p{dice.randrange(number):03}")
    for name in gated:
        yield Operation("patch", "Pod", name, {"spec": {"schedulingGates": None}})
