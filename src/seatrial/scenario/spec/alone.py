"""The scenario of a cluster that has none: one step, in which its schedulers and the controllers take turns."""

from collections.abc import Iterable

from seatrial.model.documents import Document
from seatrial.scenario.spec.kind import API_VERSION

VOLCANO = "volcano"


def scenario_alone(name: str, snapshot: Iterable[Document] = ()) -> Document:
    """A scenario that ends when neither a scheduler nor a controller can do anything."""
    spec = {
        "controllers": {"simulationControllers": {"enabled": schedulers_of(snapshot)}},
        "operations": [{"id": "done", "step": 1, "doneOperation": {}}],
    }
    return {"apiVersion": API_VERSION, "kind": "Scenario", "metadata": {"name": name}, "spec": spec}


def with_volcano(scenario: Document) -> Document:
    """The same scenario with Volcano among its simulated controllers."""
    spec = scenario.get("spec") or {}
    controllers = spec.get("controllers") or {}
    simulated = controllers.get("simulationControllers") or {}
    enabled = simulated.get("enabled") or [{"name": "scheduler"}]
    if any(each.get("name") == VOLCANO for each in enabled):
        return scenario
    chosen = {**controllers, "simulationControllers": {**simulated, "enabled": [*enabled, {"name": VOLCANO}]}}
    return {**scenario, "spec": {**spec, "controllers": chosen}}


def schedulers_of(snapshot: Iterable[Document]) -> list[Document]:
    """The schedulers that a cluster runs: kube-scheduler, and Volcano where its kinds or its pods are there."""
    if any(map(_is_of_volcano, snapshot)):
        return [{"name": "scheduler"}, {"name": VOLCANO}]
    return [{"name": "scheduler"}]


def _is_of_volcano(document: Document) -> bool:
    is_pod = document.get("kind") == "Pod" and (document.get("spec") or {}).get("schedulerName") == VOLCANO
    return is_pod or ".volcano.sh/" in str(document.get("apiVersion"))
