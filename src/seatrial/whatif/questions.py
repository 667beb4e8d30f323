"""Writes the Scenario of each question: ordinary operations that `seatrial run --snapshot F --drain` plays as well."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from seatrial.controllers import DRAIN, DrainOptions, NodeReplacement, default_stage_documents
from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError
from seatrial.scenario.spec.kind import API_VERSION, STEP_DURATION

HOSTNAME = "kubernetes.io/hostname"
UNREACHABLE = "Kubelet stopped posting node status."
DAY = "24h"
Drained = Mapping[str, Any]
"""Options of a drain by kubectl's names: force, delete_emptydir_data, grace_period, timeout."""


def drain(nodes: Sequence[Document], everything: int, options: Drained, pod_start: str) -> Document:
    """Drain nodes one after the other, as one `kubectl drain` does."""
    _leave_some(nodes, everything)
    marks = DrainOptions(**options, command="drain")
    return _scenario("drain", [_mark(_name(node), marks) for node in nodes], pod_start)


def remove(nodes: Sequence[Document], everything: int, options: Drained, pod_start: str) -> Document:
    """Drain nodes one after the other and delete each."""
    _leave_some(nodes, everything)
    marks = DrainOptions(**options, command="remove", delete=True)
    return _scenario("remove", [_mark(_name(node), marks) for node in nodes], pod_start)


def _leave_some(nodes: Sequence[Document], everything: int) -> None:
    if len(nodes) == everything:
        why = "these are all nodes of the snapshot, so their pods could go nowhere: leave some nodes out"
        raise ConfigError("", "NODE", why)


def outage(nodes: Sequence[Document], pod_start: str, *, vanish: bool) -> Document:
    """Let nodes stop answering, or let them vanish with their machines."""
    if vanish:
        return _scenario(
            "outage", [{"deleteOperation": _target("v1", "Node", _name(node))} for node in nodes], pod_start
        )
    condition = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": UNREACHABLE}
    patch = json.dumps({"status": {"conditions": [condition]}})
    return _scenario(
        "outage",
        [{"patchOperation": {**_target("v1", "Node", _name(node)), "patch": patch, "subresource": "status"}}
         for node in nodes],
        pod_start,
    )  # fmt: skip


def upgrade(
    pools: Mapping[str, Sequence[Document]], options: Drained, pod_start: str,
    *, surge: int, unavailable: int, node_start: str, version: str,
) -> Document:  # fmt: skip
    """Replace the nodes of pools, `surge` new ones ahead of the old and `unavailable` old ones before the new."""
    if surge + unavailable < 1:
        raise ConfigError("", "--surge", "expected --surge or --unavailable of at least 1, so that a node can be taken")
    marks = []
    for pool, nodes in pools.items():
        for place, node in enumerate(nodes):
            new = NodeReplacement(
                f"{_name(node)}-new", surge=place % (surge + unavailable) < surge, ready_after=node_start,
                kubelet_version=version,
            )  # fmt: skip
            chosen = DrainOptions(
                **options, command=f"upgrade {pool}", at_once=surge + unavailable, delete=True, replacement=new
            )
            marks.append(_mark(_name(node), chosen))
    return _scenario("upgrade", marks, pod_start)


def add_nodes(template: Document, count: int, pod_start: str) -> Document:
    """Add nodes like a template."""
    labels = template["metadata"].get("labels") or {}
    name = template["metadata"]["name"]
    status = {key: value for key, value in (template.get("status") or {}).items() if key in ("allocatable", "capacity")}
    spec = template.get("spec") or {}
    taints = [each for each in spec.get("taints") or () if not each["key"].startswith("node.kubernetes.io/")]
    operations = []
    for number in range(count):
        own = f"{name}-added-{number}"
        metadata = {"name": own, "labels": {**labels, HOSTNAME: own}}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": taints} if taints else {}}
        operations.append({"createOperation": {"object": {**node, "status": status}}})
    return _scenario("add", operations, pod_start)


def scale(workload: Document, replicas: int, pod_start: str) -> Document:
    """Scale a workload."""
    metadata = workload["metadata"]
    target = _target(workload["apiVersion"], workload["kind"], metadata["name"], metadata.get("namespace", "default"))
    patch = json.dumps({"spec": {"replicas": replicas}})
    return _scenario("scale", [{"patchOperation": {**target, "patch": patch}}], pod_start)


def _scenario(name: str, operations: Iterable[Document], pod_start: str) -> Document:
    listed = [*_stages(pod_start), *operations, {"id": "done", "doneOperation": {}}]
    for place, operation in enumerate(listed):
        operation.setdefault("id", f"{name}-{place}")
        operation["step"] = 1
    return {
        "apiVersion": API_VERSION,
        "kind": "Scenario",
        "metadata": {"name": f"what-if-{name}", "annotations": {STEP_DURATION: DAY}},
        "spec": {
            "controllers": {"simulationControllers": {"enabled": [{"name": "scheduler"}]}},
            "operations": listed,
        },
    }


def _stages(pod_start: str) -> list[Document]:
    """The usual lives of pods, but for the time that a pod takes until it is ready."""
    from seatrial.model.durations import parse_duration

    milliseconds = parse_duration(pod_start) // 1000
    if not milliseconds:
        return []
    found = []
    for stage in default_stage_documents("pod"):
        if stage["metadata"]["name"] == "pod-ready":
            stage["spec"]["delay"] = {"durationMilliseconds": milliseconds}
        found.append({"id": stage["metadata"]["name"], "createOperation": {"object": stage}})
    return found


def _mark(node: str, options: DrainOptions) -> Document:
    given = {key: value for key, value in msgspec.to_builtins(options).items() if value != _DEFAULTS[key]}
    patch = {"metadata": {"annotations": {DRAIN: json.dumps(given)}}}
    return {"patchOperation": {**_target("v1", "Node", node), "patch": json.dumps(patch)}}


_DEFAULTS: Document = msgspec.to_builtins(DrainOptions())


def _target(api_version: str, kind: str, name: str, namespace: str = "") -> Document:
    meta = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"typeMeta": {"apiVersion": api_version, "kind": kind}, "objectMeta": meta}


def _name(node: Document) -> str:
    return str(node["metadata"]["name"])
