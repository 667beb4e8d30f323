"""Plays the shapes with real programs: kubectl drain, kube-controller-manager, kube-scheduler and kube-apiserver."""

import json
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.build_kubernetes import ensure
from seatrial.cli.options.snapshot import KINDS
from tests.operator.cluster import Cluster
from tests.outside.processes import Kubectl, KubeScheduler, wait_until
from tests.outside.real_apiserver import RealApiserver
from tests.outside.real_cluster import controller_manager, write_kubeconfig
from tests.outside.what_if.kubelets import Kubelets
from tests.outside.what_if.shapes import Document, Shape, node

CONTROLLERS = (
    "deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller,job-controller,"
    "disruption-controller,garbage-collector-controller,namespace-controller,serviceaccount-controller,"
    "node-lifecycle-controller,taint-eviction-controller,pod-garbage-collector-controller"
)
QUICK = ("--node-monitor-period=1s", "--node-monitor-grace-period=60s", "--node-eviction-rate=10")
AT_REST, SETTLES_WITHIN = 26.0, 600.0
"""The Job controller waits 20 s before it replaces two failed pods."""


@dataclass
class Played:
    """What kubectl did with one shape."""

    code: int = 0
    text: str = ""
    """What it said, with the answers of the API server."""


class RealSide:
    """A cluster in which all shapes live at the same time."""

    def __init__(self, cluster: Cluster, kubectl: Kubectl, kubelets: Kubelets, directory: Path) -> None:
        self.cluster, self.kubectl, self.kubelets = cluster, kubectl, kubelets
        self._directory = directory

    def fill(self, shapes: Iterable[Shape]) -> None:
        """Create the shapes, each on its first node, and then open its other nodes."""
        shapes = list(shapes)
        self.kubelets.unstarted = {(shape.name, "") for shape in shapes if not shape.are_started}
        for shape in shapes:
            self._prepare(shape)
        # Owners that are referred to by uid come first.
        for is_owner in (True, False):
            self.kubectl.create(
                *(self._placed(shape, each) for shape in shapes for each in shape.objects
                  if (each["kind"] == "ConfigMap") == is_owner)
            )  # fmt: skip
        self.settle(5, lambda: all(self._is_placed(shape) for shape in shapes))
        self.kubelets.unstarted |= {
            (shape.name, pod["metadata"]["name"]) for shape in shapes if not shape.are_started
            for pod in self.pods(shape.name)
        }  # fmt: skip
        self.kubelets.unstarted -= {(shape.name, "") for shape in shapes}
        for shape in shapes:
            for name in shape.nodes[1:]:
                self.cluster.patch(f"/api/v1/nodes/{name}", {"spec": {"unschedulable": None}})
            listed = sorted(pod["metadata"]["name"] for pod in self.pods(shape.name) if _app(pod) == "web")
            self.kubelets.unready |= {(shape.name, name) for name in listed[: shape.unready]}
        self.settle(6, lambda: not any(each["spec"].get("taints") for each in self.listed("/api/v1/nodes")))

    def _prepare(self, shape: Shape) -> None:
        meta = {"name": shape.name}
        self.cluster.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
        for place, name in enumerate(shape.nodes):
            made = node(shape.name, name)
            self.cluster.request("POST", "/api/v1/nodes", {**made, "spec": {"unschedulable": True} if place else {}})
        account = f"/api/v1/namespaces/{shape.name}/serviceaccounts/default"
        self.cluster.wait_for(lambda: self.cluster.get(account), "the namespace has its service account")

    def _placed(self, shape: Shape, document: Document) -> Document:
        copied: Document = json.loads(json.dumps(document))
        copied["metadata"]["namespace"] = shape.name
        template = copied if copied["kind"] == "Pod" else copied.get("spec", {}).get("template")
        if template is not None:
            template["spec"]["nodeSelector"] = {"shape": shape.name}
        if "kubernetes.io/config.mirror" in copied["metadata"].get("annotations", {}):
            copied["spec"]["nodeName"] = shape.nodes[0]
        for owner in copied["metadata"].get("ownerReferences", ()):
            path = f"/api/v1/namespaces/{shape.name}/configmaps/{owner['name']}"
            owner["uid"] = self.cluster.get(path)["metadata"]["uid"]
        return copied

    def _is_placed(self, shape: Shape) -> bool:
        apps = {_app(pod) for pod in self.pods(shape.name) if pod["spec"].get("nodeName")}
        kinds = ("Pod", "Deployment", "StatefulSet", "DaemonSet", "Job")
        return {each["metadata"]["name"] for each in shape.objects if each["kind"] in kinds} <= apps

    def listed(self, path: str) -> list[Document]:
        items: list[Document] = self.cluster.request("GET", path)["items"]
        return items

    def pods(self, namespace: str) -> list[Document]:
        return self.listed(f"/api/v1/namespaces/{namespace}/pods")

    def settle(self, seconds: float, condition: Any = lambda: True) -> None:
        """Wait until a condition holds and nothing has changed for some seconds."""
        end, seen, since = time.monotonic() + SETTLES_WITHIN, "", time.monotonic()
        while time.monotonic() < end:
            assert not self.cluster.problems, self.cluster.problems
            found = json.dumps([_seen(pod) for pod in self.listed("/api/v1/pods")])
            found += json.dumps([each["status"] for each in self.listed("/apis/policy/v1/poddisruptionbudgets")])
            if found != seen or not condition():
                seen, since = found, time.monotonic()
            elif time.monotonic() - since > seconds:
                return
            time.sleep(0.5)
        raise AssertionError("the cluster does not come to rest")

    def dump(self, path: Path) -> Path:
        """The cluster as `kubectl get` shows it."""
        kinds = ",".join(["configmaps", *(plural for plurals in KINDS.values() for plural in plurals)])
        path.write_text(self.kubectl("get", kinds, "-A", "-o", "json"))
        return path

    def play(self, shapes: Iterable[Shape]) -> dict[str, Played]:
        """Ask all questions at once, and wait until the cluster is at rest."""
        drains: dict[str, subprocess.Popen[bytes]] = {}
        shapes = list(shapes)
        for shape in shapes:
            if shape.question == "outage":
                self._fail(shape)
            elif shape.question == "upgrade":
                self.cluster.request("POST", "/api/v1/nodes", node(shape.name, f"{shape.nodes[0]}-new"))
        self.settle(4)
        for shape in shapes:
            if shape.question != "outage":
                drains[shape.name] = self._drain(shape)
        wait_until(lambda: all(each.poll() is not None for each in drains.values()), 900, "kubectl drain ends")
        played = {name: self._read(name, each.returncode) for name, each in drains.items()}
        for shape in shapes:
            if shape.question == "upgrade" and played[shape.name].code == 0:
                self.kubectl("delete", "node", shape.nodes[0])
        self.settle(AT_REST, lambda: self._has_evicted(shapes) and not self._has_orphans())
        return {shape.name: played.get(shape.name, Played()) for shape in shapes}

    def _fail(self, shape: Shape) -> None:
        self.kubelets.stopped.add(shape.nodes[0])
        if "--vanish" in shape.flags:
            self.kubectl("delete", "node", shape.nodes[0])

    def _has_evicted(self, shapes: list[Shape]) -> bool:
        """Whether taint eviction and the collector of orphaned pods have begun on every node that failed."""
        for shape in shapes:
            if shape.question == "outage":
                left = [pod for pod in self.pods(shape.name) if pod["spec"].get("nodeName") == shape.nodes[0]]
                if any("deletionTimestamp" not in pod["metadata"] and _app(pod) != "agent" for pod in left):
                    return False
        return True

    def _has_orphans(self) -> bool:
        nodes = {each["metadata"]["name"] for each in self.listed("/api/v1/nodes")}
        return any(pod["spec"].get("nodeName", "") not in {*nodes, ""} for pod in self.listed("/api/v1/pods"))

    def _drain(self, shape: Shape) -> "subprocess.Popen[bytes]":
        forced = ("--force", "--delete-emptydir-data") if shape.question == "upgrade" else ()
        command = self.kubectl.command("drain", *shape.arguments, *forced, "--ignore-daemonsets", "-v=8")
        with (self._directory / f"{shape.name}.log").open("wb") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)

    def _read(self, name: str, code: int) -> Played:
        return Played(code, (self._directory / f"{name}.log").read_text())


def _app(pod: Document) -> str:
    return str(pod["metadata"]["labels"].get("app"))


def _seen(pod: Document) -> list[Any]:
    meta, status = pod["metadata"], pod["status"]
    ready = [each["status"] for each in status.get("conditions", ()) if each["type"] == "Ready"]
    return [meta["uid"], pod["spec"].get("nodeName"), status.get("phase"), ready, "deletionTimestamp" in meta]


@contextmanager
def real_side(directory: Path) -> Iterator[RealSide]:
    """The programs, on loopback."""
    programs = ensure(("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"))
    with RealApiserver(directory) as apiserver:
        cluster = Cluster(write_kubeconfig(directory / "kubeconfig", apiserver.port))
        kubectl = Kubectl(programs / "kubectl", cluster.kubeconfig, directory)
        with (
            controller_manager(cluster.kubeconfig, directory / "controllers.log", CONTROLLERS, *QUICK),
            KubeScheduler(programs / "kube-scheduler", cluster.kubeconfig, directory / "scheduler.log"),
            Kubelets(cluster) as kubelets,
        ):
            yield RealSide(cluster, kubectl, kubelets, directory)
