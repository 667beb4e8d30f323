"""Dry run: carries out the operations in order, without a scheduler or controllers.

Errors of an operation itself are found here as in a run. Errors that depend on other components (an object that a
controller creates or deletes) are only warnings here.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from seatrial.controllers.stages import serve_stages
from seatrial.model.documents import Document
from seatrial.model.errors import AlreadyExists, Conflict, Forbidden, NotFound, ScenarioError, StatusError
from seatrial.model.quantity import QuantityError, canonical_quantity
from seatrial.model.schema import Schema, schema_for
from seatrial.scenario.cluster import fresh_store
from seatrial.scenario.engine.operations import carry_out
from seatrial.scenario.engine.user_controllers import is_served
from seatrial.scenario.spec.annotations import check_annotations, mentions, unknown_annotations
from seatrial.scenario.spec.kind import Operation
from seatrial.scenario.spec.operation_ids import Planned
from seatrial.store.snapshots import restore_cluster

Target = tuple[str, str, str, str]
"""apiVersion, kind, namespace and name."""
BY_CONTROLLERS = re.compile("exceeded quota|being terminated|Only bound persistent volume claims|disruption budget")
"""Refusals that depend on what controllers do: quotas, namespaces that are going, claims that are bound."""
NO_CLASS = re.compile(r"no (?P<kind>Priority)Class with name|(?P<other>Runtime)Class \S+ not found")
UNKNOWN_FIELD = re.compile(r'unknown field "(?P<field>[^"]+)"')


class Finding(msgspec.Struct, frozen=True):
    """An error, or a likely mistake."""

    level: Literal["error", "warning"]
    message: str
    operation: str = ""
    field: str = ""
    """Where in the operation."""


def rehearse(
    operations: Sequence[Planned],
    snapshot: Sequence[Document] = (),
    without: Collection[str] = (),
    *,
    own_controllers: bool = False,
    volcano: bool = False,
    node_groups: bool = False,
    watched: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Iterator[Finding]:
    """Carry out all operations but those of the ids `without`; what each of them ran into.

    `volcano`: Volcano's kinds are served; `node_groups`: NodeGroups are. No controller but a user's own makes
    namespaces. `watched` are the kinds that each of these watches.
    """
    store = fresh_store()
    serve_stages(store)
    if volcano:
        from seatrial.volcano.apis.installation import install

        install(store)
    if node_groups:
        from seatrial.scenario.autoscaler import install_node_groups

        install_node_groups(store)
    restore_cluster(store, snapshot, "snapshot")
    yield from _of_snapshot(snapshot)
    made: dict[Target, int] = {}
    for planned in sorted(operations, key=lambda planned: planned.step):
        if planned.id in without:
            continue
        operation = msgspec.json.decode(planned.data, type=Operation)
        if mentions(planned.data) and operation.create_operation is not None:
            for text in unknown_annotations(operation.create_operation.object or {}):
                yield Finding("warning", text, planned.id, "createOperation.object")
        try:
            carry_out(store, planned, operation)
            if operation.create_operation is not None:
                made[_target(operation)] = planned.step
        except ScenarioError as error:
            if isinstance(error.__cause__, AlreadyExists) and made.get(_target(operation)) == planned.step:
                # No controller runs between the operations of one step.
                yield Finding("error", error.why, error.operation, "createOperation.object.metadata.name")
                continue
            finding = _finding(operation, error, own_controllers)
            if finding is not None:
                yield finding
    for name, kinds in watched.items():
        for kind in kinds:
            if not is_served(kind, store.kinds):
                yield Finding("warning", f"controller {name} watches {kind}, which is not served")


def _of_snapshot(snapshot: Sequence[Document]) -> Iterator[Finding]:
    for document in snapshot:
        yield from (Finding("warning", text) for text in unknown_annotations(document))
        try:
            check_annotations(document)
        except ScenarioError as error:
            yield Finding("error", error.why)


def _finding(operation: Operation, error: ScenarioError, own_controllers: bool) -> Finding | None:
    cause = error.__cause__
    if isinstance(cause, NotFound) and operation.create_operation is not None and not own_controllers:
        return Finding("error", error.why, error.operation, "createOperation.object.metadata.namespace")
    if isinstance(cause, Conflict) or (isinstance(cause, Forbidden) and BY_CONTROLLERS.search(cause.message)):
        return None
    if isinstance(cause, NotFound | AlreadyExists) or (isinstance(cause, Forbidden) and own_controllers):
        return Finding("warning", f"{error.why} (unless a controller sees to it)", error.operation)
    patch = operation.patch_operation
    if isinstance(cause, StatusError) and patch is not None and _is_json_patch(patch.patch_type, patch.patch):
        return Finding("warning", f"{error.why} (as far as the operations alone tell)", error.operation)
    field, more = _place(operation, cause)
    return Finding("error", error.why + more, error.operation, field)


def _target(operation: Operation) -> Target:
    document = (operation.create_operation and operation.create_operation.object) or {}
    meta = document.get("metadata") or {}
    return document.get("apiVersion", ""), document.get("kind", ""), meta.get("namespace") or "", meta.get("name") or ""


def _is_json_patch(type: str, text: str) -> bool:
    """Whether a patch depends on what is there at the time."""
    return type == "application/json-patch+json" or (not type and text.lstrip().startswith("["))


def _place(operation: Operation, cause: BaseException | None) -> tuple[str, str]:
    """The position in the operation, and the value there if the message does not contain it."""
    if operation.patch_operation is not None:
        return "patchOperation.patch" if isinstance(cause, StatusError) else "patchOperation", ""
    create = operation.create_operation
    if create is None or create.object is None:
        return "deleteOperation", ""
    below, more = "", ""
    if isinstance(cause, StatusError):
        unknown = UNKNOWN_FIELD.search(cause.message)
        below = cause.causes[0].field if cause.causes else unknown["field"] if unknown else ""
        if missing := NO_CLASS.search(cause.message):
            below = f"spec.{(missing['kind'] or missing['other']).lower()}ClassName"
        schema = schema_for(create.object["apiVersion"], create.object["kind"])
        if not below and schema is not None:
            below, more = next(_bad_quantities(create.object, schema, ""), ("", ""))
    return f"createOperation.object.{below}".rstrip("."), more


def _bad_quantities(value: Any, schema: Schema, where: str) -> Iterator[tuple[str, str]]:
    """Fields whose value is no quantity though it should be."""
    if schema.type == "quantity":
        try:
            canonical_quantity(value)
        except (QuantityError, TypeError):
            yield where, f", got {value!r}"
    elif isinstance(value, dict):
        for key, item in value.items():
            inner = schema.fields[key].schema if key in schema.fields else schema.values
            if inner is not None:
                yield from _bad_quantities(item, inner, f"{where}.{key}".lstrip("."))
    elif isinstance(value, list) and schema.items is not None:
        for position, item in enumerate(value):
            yield from _bad_quantities(item, schema.items, f"{where}[{position}]")
