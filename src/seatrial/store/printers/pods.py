"""Printer columns of pods and nodes.

Upstream: pkg/printers/internalversion/printers.go (printPod, printNode).
"""

from dataclasses import dataclass, field
from typing import Any

from seatrial.model.documents import Document
from seatrial.store.printers.cells import NONE, UNKNOWN, age, at, items, name, number, since, text

ROLE_PREFIX, ROLE_LABEL = "node-role.kubernetes.io/", "kubernetes.io/role"
FINAL = {"Succeeded": "The pod has completed successfully.", "Failed": "The pod failed."}


@dataclass(slots=True)
class _Tally:
    """The summary of a pod's containers."""

    reason: str
    ready: int = 0
    restarts: int = 0
    last_restart: str = ""
    sidecar_restarts: int = 0
    sidecar_last_restart: str = ""
    errors: list[str] = field(default_factory=list)

    def count_restarts(self, status: Document) -> None:
        self.restarts += number(status, "restartCount")
        self.last_restart = max(self.last_restart, _ended(status))


def pod_cells(pod: Document, now: int) -> list[Any]:
    """The cells of a pod, wide ones included."""
    sidecars = {c.get("name") for c in items(pod, "spec", "initContainers") if c.get("restartPolicy") == "Always"}
    total = len(items(pod, "spec", "containers")) + len(sidecars)
    phase = text(pod, "status", "phase")
    tally = _Tally(text(pod, "status", "reason") or phase)
    if any(c.get("type") == "PodScheduled" and c.get("reason") == "SchedulingGated" for c in _conditions(pod)):
        tally.reason = "SchedulingGated"
    initializing = _tally_init_containers(pod, sidecars, tally)
    if not initializing or _has_condition(pod, "Initialized"):
        _tally_containers(pod, tally)
    if at(pod, "metadata", "deletionTimestamp"):
        if at(pod, "status", "reason") == "NodeLost":
            tally.reason = "Unknown"
        elif phase not in FINAL:
            tally.reason = "Terminating"
    restarts = str(tally.restarts)
    if tally.restarts and tally.last_restart:
        restarts += f" ({since(tally.last_restart, now)} ago)"
    return [name(pod), f"{tally.ready}/{total}", tally.reason, restarts, age(pod, now), *_wide_pod_cells(pod)]


def _tally_init_containers(pod: Document, sidecars: set[Any], tally: _Tally) -> bool:
    """Count init containers; True while the pod is still initializing."""
    for index, status in enumerate(items(pod, "status", "initContainerStatuses")):
        tally.count_restarts(status)
        is_sidecar = status.get("name") in sidecars
        if is_sidecar:
            tally.sidecar_restarts += number(status, "restartCount")
            tally.sidecar_last_restart = max(tally.sidecar_last_restart, _ended(status))
        terminated, waiting = at(status, "state", "terminated"), text(status, "state", "waiting", "reason")
        if terminated is not None and not number(terminated, "exitCode"):
            continue
        if is_sidecar and status.get("started"):
            tally.ready += bool(status.get("ready"))
            continue
        if terminated is not None:
            tally.reason = "Init:" + _end_reason(terminated)
        elif waiting and waiting != "PodInitializing":
            tally.reason = "Init:" + waiting
        else:
            tally.reason = f"Init:{index}/{len(items(pod, 'spec', 'initContainers'))}"
        return True
    return False


def _tally_containers(pod: Document, tally: _Tally) -> None:
    tally.restarts, tally.last_restart = tally.sidecar_restarts, tally.sidecar_last_restart
    running, failed = False, ""
    for status in reversed(items(pod, "status", "containerStatuses")):
        tally.count_restarts(status)
        terminated, waiting = at(status, "state", "terminated"), text(status, "state", "waiting", "reason")
        if waiting:
            tally.reason = waiting
        elif terminated is not None:
            tally.reason = _end_reason(terminated)
            if number(terminated, "exitCode"):
                failed = tally.reason
        elif status.get("ready") and at(status, "state", "running") is not None:
            running = True
            tally.ready += 1
    if tally.reason == "Completed":
        if running and _has_condition(pod, "Ready"):
            tally.reason = "Running"
        elif failed:
            tally.reason = failed
        elif running:
            tally.reason = "NotReady"


def _end_reason(terminated: Document) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{number(terminated, 'exitCode')}"


def _wide_pod_cells(pod: Document) -> list[Any]:
    addresses = items(pod, "status", "podIPs")
    gates = items(pod, "spec", "readinessGates")
    passed = sum(_has_condition(pod, gate.get("conditionType")) for gate in gates)
    return [
        text(addresses[0], "ip", absent=NONE) if addresses else NONE,
        text(pod, "spec", "nodeName", absent=NONE),
        text(pod, "status", "nominatedNodeName", absent=NONE),
        f"{passed}/{len(gates)}" if gates else NONE,
    ]


def pod_conditions(pod: Document) -> list[Document]:
    """A row of a finished pod says so, which lets kubectl leave it out."""
    phase = at(pod, "status", "phase")
    if phase not in FINAL:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": FINAL[phase]}]


def node_cells(node: Document, now: int) -> list[Any]:
    """The cells of a node, wide ones included."""
    ready = next((c for c in _conditions(node) if c.get("type") == "Ready"), None)
    status = "Unknown" if ready is None else ("Ready" if ready.get("status") == "True" else "NotReady")
    if at(node, "spec", "unschedulable"):
        status += ",SchedulingDisabled"
    labels = at(node, "metadata", "labels") or {}
    roles = {key.removeprefix(ROLE_PREFIX) for key in labels if key.startswith(ROLE_PREFIX)} | {labels.get(ROLE_LABEL)}
    info = at(node, "status", "nodeInfo") or {}
    kernel = text(info, "kernelVersion", absent=UNKNOWN)
    if info.get("architecture"):
        kernel += f" ({info['architecture']})"
    return [
        name(node),
        status,
        ",".join(sorted(role for role in roles if role)) or NONE,
        age(node, now),
        text(info, "kubeletVersion"),
        _address(node, "InternalIP"),
        _address(node, "ExternalIP"),
        text(info, "osImage", absent=UNKNOWN),
        kernel,
        text(info, "containerRuntimeVersion", absent=UNKNOWN),
    ]


def _address(node: Document, type: str) -> str:
    addresses = (a for a in items(node, "status", "addresses") if a.get("type") == type)
    return text(next(addresses, None), "address", absent=NONE)


def _conditions(document: Document) -> list[Document]:
    return items(document, "status", "conditions")


def _has_condition(document: Document, type: Any) -> bool:
    return any(c.get("type") == type and c.get("status") == "True" for c in _conditions(document))


def _ended(status: Document) -> str:
    return text(status, "lastState", "terminated", "finishedAt")
