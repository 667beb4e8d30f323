"""Runs scenarios in tests: a store of its own, the embedded scheduler, and a log of every status and attempt."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from seatrial.clock.virtual import Clock
from seatrial.scenario.cluster import fresh_store
from seatrial.scenario.engine.controller_registry import Registry
from seatrial.scenario.options import SimulationOptions
from seatrial.scenario.scenario_run import ScenarioRun
from seatrial.scenario.spec.kind import API_VERSION
from seatrial.scenario.status import ScenarioStatus
from seatrial.scheduler import BothRecorders, ListRecorder
from tests.known_kinds import known_kind


def node(name: str, pods: int = 10, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "spec": spec,
        "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": str(pods)}},
    }


def pod(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
    }


def create(step: int, document: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"step": step, "createOperation": {"object": document}, **more}


def patch(step: int, target: dict[str, Any], body: Any, **more: Any) -> dict[str, Any]:
    """A patch of an object; a body that is no text becomes JSON."""
    text = body if isinstance(body, str) else orjson.dumps(body).decode()
    return {"step": step, "patchOperation": {**_target(target), "patch": text, **more}}


def delete(step: int, target: dict[str, Any], **options: Any) -> dict[str, Any]:
    more = {"deleteOptions": options} if options else {}
    return {"step": step, "deleteOperation": {**_target(target), **more}}


def done(step: int, **more: Any) -> dict[str, Any]:
    return {"step": step, "doneOperation": {}, **more}


def _target(document: dict[str, Any]) -> dict[str, Any]:
    meta = {key: document["metadata"][key] for key in ("name", "namespace") if key in document["metadata"]}
    return {"typeMeta": {"apiVersion": document["apiVersion"], "kind": document["kind"]}, "objectMeta": meta}


def events(*items: dict[str, Any]) -> dict[str, Any]:
    """A spec in the first spelling: the discriminators are added."""
    verbs = {"createOperation": "Create", "patchOperation": "Patch", "deleteOperation": "Delete"}
    named = []
    for item in items:
        verb = next((verb for key, verb in verbs.items() if key in item), "Done")
        if verb == "Done":
            item = {**item, "doneOperation": item.get("doneOperation") or {"done": True}}
        named.append({"operation": verb, **item})
    return {"events": named}


def operations(*items: dict[str, Any], simulated: Iterable[str] = ("scheduler",), **more: Any) -> dict[str, Any]:
    names = [{"name": name} for name in simulated]
    return {"operations": list(items), "controllers": {"simulationControllers": {"enabled": names}, **more}}


def scenario(spec: dict[str, Any], **annotations: str) -> dict[str, Any]:
    prefix = API_VERSION.split("/")[0]
    metadata: dict[str, Any] = {"name": "play"}
    if annotations:
        metadata["annotations"] = {f"{prefix}/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return {"apiVersion": API_VERSION, "kind": "Scenario", "metadata": metadata, "spec": spec}


@dataclass
class Stage:
    """A scenario run, everything it needs, and a log of every status that was published."""

    spec: dict[str, Any]
    options: SimulationOptions = field(default_factory=lambda: SimulationOptions(registry=Registry()))
    annotations: dict[str, str] = field(default_factory=dict)
    log: list[dict[str, Any]] = field(default_factory=list)
    decisions: ListRecorder = field(default_factory=ListRecorder)

    def __post_init__(self) -> None:
        self.clock = Clock()
        self.store = fresh_store(self.clock)
        document = scenario(self.spec, **self.annotations)
        options = replace(self.options, recorder=lambda recorder: BothRecorders(recorder, self.decisions))
        self.scenario_run = ScenarioRun(document, self.store, self.clock, options, publisher=self)

    @property
    def tried(self) -> list[str]:
        """The pods of all attempts of the scheduler, by name."""
        return [decision.pod.partition("/")[2] for decision in self.decisions.decisions]

    def publish(self, status: ScenarioStatus) -> None:
        self.log.append(orjson.loads(b"".join(status.parts())))

    def run(self) -> dict[str, Any]:
        """Run until nothing more is to be done; the last status."""
        for _ in self.scenario_run.run():
            pass
        return self.log[-1]

    def get(self, kind: str, name: str, api_version: str = "v1", namespace: str = "default") -> dict[str, Any] | None:
        found = known_kind(self.store.kinds, api_version, kind)
        stored = self.store.find(found, name, namespace if found.namespaced else "")
        return stored.document() if stored is not None else None

    def all(self, kind: str, api_version: str = "v1") -> list[dict[str, Any]]:
        found = known_kind(self.store.kinds, api_version, kind)
        return [stored.document() for stored in self.store.list(found)]

    def phases(self) -> list[str]:
        """The phases inside steps, as a watcher sees them, equal neighbours once."""
        seen: list[str] = []
        for status in self.log:
            phase = status.get("stepStatus", {}).get("phase")
            if phase and status["phase"] == "Running" and (not seen or seen[-1] != phase):
                seen.append(phase)
        return seen


def kinds_of(status: dict[str, Any], step: str) -> list[str]:
    """Which field each timeline entry of a step uses."""
    return [
        next(key for key in entry if key not in ("id", "step", "operation"))
        for entry in status["scenarioResult"]["timeline"][step]
    ]
