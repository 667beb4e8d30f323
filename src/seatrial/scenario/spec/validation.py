"""Validation of scenarios by KEP-140: an invalid one is stored, and ends Failed with the operation's id."""

from collections.abc import Collection, Iterable, Iterator

import msgspec

from seatrial.model.documents import Document
from seatrial.model.errors import ScenarioError
from seatrial.scenario.spec.dialect import EVENTS, Dialect
from seatrial.scenario.spec.kind import Controllers, ControllerSet, Operation, PatchOperation
from seatrial.scenario.spec.operation_ids import Planned

PATCH_TYPES = {
    "application/json-patch+json": "json",
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/apply-patch+yaml": "apply",
}
SPEC_OPERATIONS = ("Create", "Patch", "Delete", "Done")
CHECKED_AT_ONCE = 2000
SUBRESOURCES = ("", "status", "scale", "resize", "ephemeralcontainers")
ALIASES = {"kube-scheduler": "scheduler"}
"""Other names under which a controller is known."""


def problems(
    document: Document, dialect: Dialect, operations: Iterable[Planned], known: Collection[str]
) -> Iterator[ScenarioError]:
    """Everything that makes a scenario invalid; `known` are the names of the registered controllers."""
    return (found for found in problems_in_turns(document, dialect, operations, known) if found is not None)


def problems_in_turns(
    document: Document, dialect: Dialect, operations: Iterable[Planned], known: Collection[str]
) -> Iterator[ScenarioError | None]:
    """The same, and None after some operations: the thread may have other work."""
    spec = document.get("spec") or {}
    if dialect is EVENTS and spec.get("operations") is not None:
        yield ScenarioError("", "spec.events and spec.operations are two spellings of one thing: use one of them")
    seen: set[str] = set()
    for place, planned in enumerate(operations, 1):
        if place % CHECKED_AT_ONCE == 0:
            yield None
        if planned.id in seen:
            yield ScenarioError(planned.id, "the id is used more than once")
        seen.add(planned.id)
        yield from operation_problems(planned, dialect)
    controllers = Controllers.of(document)
    yield from _controller_problems(controllers, dialect, known)


def operation_problems(planned: Planned, dialect: Dialect) -> Iterator[ScenarioError]:
    """Validation errors of one operation."""
    operation = msgspec.json.decode(planned.data, type=Operation)
    bodies = {
        "Create": operation.create_operation,
        "Patch": operation.patch_operation,
        "Delete": operation.delete_operation,
        "Done": operation.done_operation,
    }
    given = [verb for verb, body in bodies.items() if body is not None]
    if len(given) != 1:
        fields = " and ".join(f"{verb.lower()}Operation" for verb in given) or "none"
        expected = "exactly one of createOperation, patchOperation, deleteOperation, doneOperation"
        yield ScenarioError(planned.id, f"expected {expected}, got {fields}")
        return
    yield from _discriminator_problems(planned.id, operation.operation, given[0], dialect)
    if operation.create_operation is not None:
        yield from _object_problems(planned.id, operation.create_operation.object)
    target = operation.patch_operation or operation.delete_operation
    if target is not None:
        field = f"{given[0].lower()}Operation"
        if not target.type_meta.kind or not target.type_meta.api_version:
            yield ScenarioError(planned.id, f"{field}.typeMeta: apiVersion and kind are required")
        if not target.object_meta.name:
            yield ScenarioError(planned.id, f"{field}.objectMeta.name is required")
    if operation.patch_operation is not None:
        yield from _patch_problems(planned.id, operation.patch_operation)


def _discriminator_problems(id: str, operation: str | None, field: str, dialect: Dialect) -> Iterator[ScenarioError]:
    if operation is None:
        if dialect is EVENTS:
            yield ScenarioError(id, f"operation is required; {field.lower()}Operation goes with {field}")
    elif operation not in SPEC_OPERATIONS:
        yield ScenarioError(id, f"operation {operation!r} is not one of {', '.join(SPEC_OPERATIONS)}")
    elif operation != field:
        yield ScenarioError(id, f"operation is {operation} but {field.lower()}Operation is given")


def _object_problems(id: str, object: Document | None) -> Iterator[ScenarioError]:
    if not object:
        yield ScenarioError(id, "createOperation.object is required")
        return
    for field in ("apiVersion", "kind"):
        value = object.get(field)
        if not value:
            yield ScenarioError(id, "createOperation.object: apiVersion and kind are required")
            return
        if not isinstance(value, str):
            yield ScenarioError(id, f"createOperation.object.{field}: expected a string, got {value!r}")
    meta = object.get("metadata")
    if meta is not None and not isinstance(meta, dict):
        yield ScenarioError(id, f"createOperation.object.metadata: expected an object, got {meta!r}")
    elif meta and not isinstance(meta.get("namespace") or "", str):
        yield ScenarioError(
            id, f"createOperation.object.metadata.namespace: expected a string, got {meta['namespace']!r}"
        )


def _patch_problems(id: str, patch: PatchOperation) -> Iterator[ScenarioError]:
    if patch.patch_type and patch.patch_type not in PATCH_TYPES:
        yield ScenarioError(id, f"patchType {patch.patch_type!r} is not one of {', '.join(PATCH_TYPES)}")
    if patch.subresource not in SUBRESOURCES:
        yield ScenarioError(id, f"subresource {patch.subresource!r} is not one of {', '.join(SUBRESOURCES[1:])}")
    if not patch.patch:
        yield ScenarioError(id, "patchOperation.patch is required")


def _controller_problems(controllers: Controllers, dialect: Dialect, known: Collection[str]) -> Iterator[ScenarioError]:
    simulated = controllers.simulation_controllers
    if dialect.minor_steps and (simulated is None or not simulated.enabled):
        yield ScenarioError("", "spec.controllers.simulationControllers.enabled is required: name what is simulated")
    for field, chosen in (
        ("presimulationControllers", controllers.presimulation_controllers),
        ("simulationControllers", simulated),
    ):
        if chosen is not None:
            yield from _set_problems(f"spec.controllers.{field}", chosen, known)


def _set_problems(field: str, chosen: ControllerSet, known: Collection[str]) -> Iterator[ScenarioError]:
    disabled = [controller.name for controller in chosen.disabled or []]
    if "*" in disabled and len(disabled) > 1:
        yield ScenarioError("", f'{field}.disabled: "*" stands alone')
    for name in [*(controller.name for controller in chosen.enabled or []), *disabled]:
        if canonical(name) not in known and not (name == "*" and name in disabled):
            why = f"controller {name!r} is not known; there are {', '.join(sorted(known))}"
            yield ScenarioError("", f"{field}: {why}; one of your own comes with --controllers FILE")


def canonical(name: str) -> str:
    """The one name of a controller."""
    return ALIASES.get(name, name)
