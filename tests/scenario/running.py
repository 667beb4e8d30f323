"""Runs with the real scheduler and controllers, for tests of what a timeline says."""

from typing import Any

from seatrial.api import Simulation
from tests.known_kinds import known_kind
from tests.scenario.playing import events, operations, scenario

SPELLINGS = {"events": events, "operations": operations}


def node(name: str, cpu: str = "4", pods: str = "110", **labels: str) -> dict[str, Any]:
    room = {"cpu": cpu, "memory": "16Gi", "pods": pods}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "status": {"allocatable": room, "capacity": room},
    }


def pod(name: str, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [container], **spec},
    }


def priority_class(name: str, value: int) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


class Run:
    """One run and what can be asked about it."""

    def __init__(self, spec: dict[str, Any], annotations: dict[str, str] | None = None, **options: Any) -> None:
        self.simulation = Simulation(scenario(spec, **(annotations or {})), **options)
        self.again()

    def again(self) -> None:
        self.result = self.simulation.run()
        self.status = self.result.status
        self.store = self.simulation.scenario_run.store

    @property
    def timeline(self) -> dict[str, list[dict[str, Any]]]:
        return dict(self.status["scenarioResult"]["timeline"])

    def entries(self, field: str) -> list[dict[str, Any]]:
        """All entries that use a field, in order."""
        return [entry for step in self.timeline.values() for entry in step if field in entry]

    def get(self, kind: str, name: str, api_version: str = "v1") -> dict[str, Any] | None:
        found = known_kind(self.store.kinds, api_version, kind)
        stored = self.store.find(found, name, "default" if found.namespaced else "")
        return stored.document() if stored is not None else None

    def all(self, kind: str, api_version: str = "v1") -> list[dict[str, Any]]:
        found = known_kind(self.store.kinds, api_version, kind)
        return [stored.document() for stored in self.store.list(found)]
