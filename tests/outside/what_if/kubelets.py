"""Kubelets without containers for a real API server: nodes with heartbeats, pods that run and end, a thread for each.

A pod is Running and ready some seconds after it is seen on a live node, and gone as soon as it is deleted. A node whose
kubelet is stopped gets no heartbeats, and its pods stay as they are.
"""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Self

from tests.operator.cluster import Cluster, Refused

TICK, HEARTBEAT, POD_START = 0.4, 8.0, 3.0
"""kube-apiserver tries an eviction again after half a second where two meet at one budget. No replacement may be ready
before all of a drain's first requests are answered, or the number of pods that a budget holds depends on that race."""
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
ENDS = "ends"
"""A label of pods that succeed at once."""
Document = dict[str, Any]


class Kubelets:
    """The kubelets of all nodes of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.stopped: set[str] = set()
        """Nodes that do not answer any more."""
        self.unready: set[tuple[str, str]] = set()
        """Pods, by namespace and name, that run and are not ready."""
        self.unstarted: set[tuple[str, str]] = set()
        """Pods whose containers are never created; an empty name: all of the namespace."""
        self._leases: dict[str, float] = {}
        self._first_seen: dict[str, float] = {}
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=[work], daemon=True) for work in (self._renew_all, self._bring_all)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(30)
        assert not self.cluster.problems, self.cluster.problems

    def _run(self, work: Callable[[set[str]], None]) -> None:
        while not self._over.wait(TICK):
            try:
                nodes = self.cluster.request("GET", "/api/v1/nodes")["items"]
                work({node["metadata"]["name"] for node in nodes} - self.stopped)
            except Exception as error:  # noqa: BLE001
                # The test that waits has to hear of it.
                self.cluster.problems.append(error)
                return

    def _renew_all(self, nodes: set[str]) -> None:
        for name in sorted(nodes):
            if time.monotonic() - self._leases.get(name, -HEARTBEAT) >= HEARTBEAT:
                self._renew(name)

    def _bring_all(self, nodes: set[str]) -> None:
        for pod in self.cluster.request("GET", "/api/v1/pods")["items"]:
            if pod["spec"].get("nodeName") in nodes:
                try:
                    self._bring(pod)
                except Refused as error:
                    # Changed or deleted since it was read: the next tick sees it.
                    if error.code not in (404, 409):
                        raise

    def _renew(self, node: str) -> None:
        self._leases[node] = time.monotonic()
        spec = {"holderIdentity": node, "leaseDurationSeconds": 40, "renewTime": f"{_now()[:-1]}.000000Z"}
        try:
            self.cluster.patch(f"{LEASES}/{node}", {"spec": spec})
        except Refused as error:
            if error.code != 404:
                raise
            meta = {"name": node, "namespace": "kube-node-lease"}
            lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": spec}
            self.cluster.request("POST", LEASES, lease)

    def _bring(self, pod: Document) -> None:
        meta = pod["metadata"]
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        if "deletionTimestamp" in meta:
            self.cluster.request("DELETE", path, {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}})
            return
        labels, status = meta.get("labels") or {}, pod["status"]
        is_unstarted = not self.unstarted.isdisjoint({(meta["namespace"], ""), (meta["namespace"], meta["name"])})
        if is_unstarted or status["phase"] in ("Succeeded", "Failed"):
            return
        is_ready = (meta["namespace"], meta["name"]) not in self.unready and ENDS not in labels
        seen = next((each["status"] for each in status.get("conditions") or () if each["type"] == "Ready"), "")
        if status["phase"] == "Running" and seen == str(is_ready):
            return
        first_seen = self._first_seen.setdefault(meta["uid"], time.monotonic())
        if status["phase"] == "Pending" and time.monotonic() - first_seen < POD_START:
            return
        self.cluster.request(
            "PATCH", f"{path}/status", {"status": _status(pod, is_ready)}, "application/strategic-merge-patch+json"
        )


def _status(pod: Document, is_ready: bool) -> Document:
    now, ends = _now(), ENDS in (pod["metadata"].get("labels") or {})
    types = ("Initialized", "Ready", "ContainersReady", "PodReadyToStartContainers")
    conditions = [
        {"type": each, "status": str(is_ready or each not in ("Ready", "ContainersReady")), "lastTransitionTime": now}
        for each in types
    ]
    over = {"terminated": {"exitCode": 0, "startedAt": now, "finishedAt": now}}
    state = over if ends else {"running": {"startedAt": now}}
    containers = [
        {"name": each["name"], "image": each["image"], "imageID": "", "ready": is_ready, "started": not ends,
         "restartCount": 0, "state": state}
        for each in pod["spec"]["containers"]
    ]  # fmt: skip
    return {"phase": "Succeeded" if ends else "Running", "startTime": now, "conditions": conditions,
            "containerStatuses": containers}  # fmt: skip


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
