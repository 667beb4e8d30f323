"""Writes the Scenario of each question: ordinary operations that `seatrial run --snapshot F --drain` plays as well."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from seatrial.controllers import DRAIN, DrainOptions, NodeReplacement, default_stage_documents
from seatrial.model.documents import Document
from seatrial.model.durations import DurationError, parse_duration
from seatrial.model.errors import ConfigError
from seatrial.results import pool_of
from seatrial.scenario.spec import schedulers_of
from seatrial.scenario.spec.kind import API_VERSION, STEP_DURATION
from seatrial.store.snapshots import Snapshot
from seatrial.whatif.selection import NodeChoice, find_nodes, find_workload, nodes_in

HOSTNAME = "kubernetes.io/hostname"
ROOM = ("allocatable", "capacity")
UNREACHABLE = "Kubelet stopped posting node status."
DAY = "24h"
POD_START = "10s"
"""How long a pod takes from its node to ready."""
Options = Mapping[str, Any]
"""Options of a drain by kubectl's names: force, delete_emptydir_data, grace_period, timeout."""


@dataclass(frozen=True, slots=True)
class Questions:
    """Writes the Scenario of each question about one cluster."""

    snapshot: Snapshot

    @property
    def nodes(self) -> list[Document]:
        return nodes_in(self.snapshot, self.snapshot.path)

    def drain(self, choice: NodeChoice, pod_start: str = POD_START, **options: Any) -> Document:
        """Drain nodes one after the other, as one `kubectl drain` does."""
        return self._drained(choice, pod_start, "drain", options)

    def remove(self, choice: NodeChoice, pod_start: str = POD_START, **options: Any) -> Document:
        """Drain nodes one after the other and delete each."""
        return self._drained(choice, pod_start, "remove", {**options, "delete": True})

    def _drained(self, choice: NodeChoice, pod_start: str, command: str, options: Options) -> Document:
        nodes, chosen = self.nodes, find_nodes(self.nodes, choice)
        if len(nodes) == len(chosen):
            why = "these are all nodes of the snapshot, so their pods could go nowhere: leave some nodes out"
            raise ConfigError("", "NODE", why)
        marks = _options(command, options)
        return _scenario(command, [_mark(_name(node), marks) for node in chosen], pod_start, self.snapshot)

    def outage(self, choice: NodeChoice, pod_start: str = POD_START, *, vanish: bool = False) -> Document:
        """Let nodes stop answering, or let them vanish with their machines."""
        condition = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": UNREACHABLE}
        patch = {"patch": json.dumps({"status": {"conditions": [condition]}}), "subresource": "status"}
        targets = [_target("v1", "Node", _name(node)) for node in find_nodes(self.nodes, choice)]
        operations = [
            {"deleteOperation": each} if vanish else {"patchOperation": {**each, **patch}} for each in targets
        ]
        return _scenario("outage", operations, pod_start, self.snapshot)

    def upgrade(
        self, choice: NodeChoice, pod_start: str = POD_START,
        *, surge: int = 1, unavailable: int = 0, node_start: str = "1m", version: str = "", **options: Any,
    ) -> Document:  # fmt: skip
        """Replace nodes pool by pool, `surge` new ones ahead of the old and `unavailable` old ones before the new."""
        at_once = surge + unavailable
        if at_once < 1:
            why = "expected --surge or --unavailable of at least 1, so that a node can be taken"
            raise ConfigError("", "--surge", why)
        ready_after = _span("--node-start", node_start)
        places: Counter[str] = Counter()
        marks = []
        for node in find_nodes(self.nodes, choice):
            pool = pool_of(node["metadata"].get("labels") or {}, choice.pool_label)
            is_surge = places[pool] % at_once < surge
            new = NodeReplacement(f"{_name(node)}-new", is_surge, ready_after, version)
            more = {"force": True, "delete_emptydir_data": True, "timeout": "1h", **options}
            chosen = _options(f"upgrade {pool}", {**more, "at_once": at_once, "delete": True, "replacement": new})
            marks.append((pool, _mark(_name(node), chosen)))
            places[pool] += 1
        in_turn = [mark for pool in places for own, mark in marks if own == pool]
        return _scenario("upgrade", in_turn, pod_start, self.snapshot)

    def add(
        self, node: Document | None = None, count: int = 1, *, pool: str = "", pool_label: str = "",
        pod_start: str = POD_START,
    ) -> Document:  # fmt: skip
        """Add nodes like a template, or like the first node of a pool."""
        if (node is None) == (not pool):
            raise ConfigError("", "--node", "expected either --node FILE or --pool POOL, whose first node is copied")
        choice = NodeChoice(pool=pool, pool_label=pool_label)
        template = node if node is not None else find_nodes(self.nodes, choice)[0]
        status = {key: value for key, value in (template.get("status") or {}).items() if key in ROOM}
        taints = [each for each in (template.get("spec") or {}).get("taints") or () if not _is_own(each)]
        operations = []
        for number in range(count):
            name = f"{_name(template)}-added-{number}"
            metadata = {"name": name, "labels": {**(template["metadata"].get("labels") or {}), HOSTNAME: name}}
            made = {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": metadata,
                "spec": {"taints": taints} if taints else {},
            }
            operations.append({"createOperation": {"object": {**made, "status": status}}})
        return _scenario("add", operations, pod_start, self.snapshot)

    def scale(self, workload: str, replicas: int, namespace: str = "default", pod_start: str = POD_START) -> Document:
        """Scale a workload, `kind/name`."""
        found = find_workload(self.snapshot, workload, namespace)
        target = _target(found["apiVersion"], found["kind"], found["metadata"]["name"], namespace)
        patch = json.dumps({"spec": {"replicas": replicas}})
        return _scenario("scale", [{"patchOperation": {**target, "patch": patch}}], pod_start, self.snapshot)


def _options(command: str, given: Options) -> DrainOptions:
    _span("--timeout", given.get("timeout", "0s"))
    return DrainOptions(**given, command=command)


def _is_own(taint: Document) -> bool:
    """Whether a taint is of the state of the node that it is copied from."""
    return str(taint["key"]).startswith("node.kubernetes.io/")


def _span(option: str, text: str) -> str:
    try:
        if parse_duration(text) >= 0:
            return text
    except DurationError:
        pass
    raise ConfigError("", option, f"expected a duration such as 30s or 5m, got {text!r}")


def _scenario(name: str, operations: Iterable[Document], pod_start: str, snapshot: Snapshot) -> Document:
    listed = [*_stages(pod_start), *operations, {"id": "done", "doneOperation": {}}]
    for place, operation in enumerate(listed):
        operation.setdefault("id", f"{name}-{place}")
        operation["step"] = 1
    return {
        "apiVersion": API_VERSION,
        "kind": "Scenario",
        "metadata": {"name": f"what-if-{name}", "annotations": {STEP_DURATION: DAY}},
        "spec": {
            "controllers": {"simulationControllers": {"enabled": schedulers_of(snapshot)}},
            "operations": listed,
        },
    }


def _stages(pod_start: str) -> list[Document]:
    """The usual lives of pods, but for the time that a pod takes until it is ready."""
    milliseconds = parse_duration(_span("--pod-start", pod_start)) // 1000
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
