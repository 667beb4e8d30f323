"""Carries out one operation of a scenario with the same calls on the store that any client makes."""

from dataclasses import replace
from typing import Any, Literal, cast

import msgspec
import orjson

from seatrial.model.documents import Document
from seatrial.model.errors import ScenarioError, SeatrialError, StatusError, TooManyRequests
from seatrial.model.kinds import Kind
from seatrial.model.schema import has_strategic_patch
from seatrial.model.writers import operation_writer
from seatrial.model.yaml_reader import load_all
from seatrial.scenario.engine.evictions import answered, eviction_options, is_eviction
from seatrial.scenario.reset import mark, outlasts_wipes
from seatrial.scenario.spec.annotations import check_annotations, mentions
from seatrial.scenario.spec.kind import CreateOperation, DeleteOperation, Operation, PatchOperation, TypeMeta
from seatrial.scenario.spec.kind import CreateOptions as CreateOptionsGiven
from seatrial.scenario.spec.kind import DeleteOptions as DeleteOptionsGiven
from seatrial.scenario.spec.operation_ids import Planned
from seatrial.scenario.spec.validation import PATCH_TYPES
from seatrial.store import Store, Stored
from seatrial.store.options import CreateOptions, DeleteOptions, Patch, PatchOptions

Verb = Literal["Create", "Patch", "Delete", "Done"]
FIELD_MANAGER = "scenario"


def writer_of(planned: Planned) -> str:
    """The name under which an operation writes."""
    return operation_writer(planned.id)


def verb_of(operation: Operation) -> Verb:
    if operation.create_operation is not None:
        return "Create"
    if operation.patch_operation is not None:
        return "Patch"
    return "Delete" if operation.delete_operation is not None else "Done"


def is_done(operation: Operation) -> bool:
    """Whether this operation ends the scenario; `done: false` does not."""
    return operation.done_operation is not None and operation.done_operation.done is not False


def carry_out(store: Store, planned: Planned, operation: Operation) -> Stored | None:
    """Create, patch or delete; returns the new object (None: deleted). ScenarioError carries the id."""
    try:
        if operation.create_operation is not None:
            if is_eviction(operation.create_operation.object):
                return _evict(store, planned, operation.create_operation)
            kind, document, namespace, options = creation_of(store, planned, operation.create_operation)
            return store.create(kind, document, writer=writer_of(planned), namespace=namespace, options=options)
        if operation.patch_operation is not None:
            return _patch(store, planned, operation.patch_operation)
        if operation.delete_operation is not None:
            return _delete(store, planned, operation.delete_operation)
    except StatusError as error:
        raise refusal(planned, error) from error
    return None


def refusal(planned: Planned, error: StatusError) -> ScenarioError:
    """The error that ends a scenario when the store refuses one of its operations; it carries the id."""
    return ScenarioError(planned.id, error.message)


def creation_of(store: Store, planned: Planned, create: CreateOperation) -> tuple[Kind, Document, str, CreateOptions]:
    """Kind, document, namespace and options of what an operation creates."""
    assert create.object is not None
    kind = _kind(store, planned, create.object["apiVersion"], create.object["kind"])
    options = USUAL_OPTIONS if create.create_options is None else _create_options(create.create_options)
    namespace = _namespace(kind, (create.object.get("metadata") or {}).get("namespace"))
    if mentions(planned.data):
        check_annotations(create.object, planned.id)
    document = mark(create.object) if outlasts_wipes(kind) else create.object
    return kind, document, namespace, options


def _evict(store: Store, planned: Planned, create: CreateOperation) -> Stored:
    document = create.object or {}
    meta = document.get("metadata") or {}
    namespace, name = meta.get("namespace") or "default", meta.get("name") or ""
    options = _delete_options(eviction_options(document))
    if create.create_options is not None and create.create_options.dry_run:
        options = replace(options, dry_run=True)
    try:
        store.evict(namespace, name, writer=writer_of(planned), options=options)
    except TooManyRequests as refused:
        return answered(store, namespace, name, refused)
    return answered(store, namespace, name, None)


def _create_options(given: CreateOptionsGiven) -> CreateOptions:
    return CreateOptions(
        dry_run=bool(given.dry_run),
        field_manager=given.field_manager or FIELD_MANAGER,
        field_validation=cast(Any, given.field_validation or "Strict"),
        owned=True,
    )


USUAL_OPTIONS = _create_options(CreateOptionsGiven())
"""Of a creation that says nothing of them."""


def _patch(store: Store, planned: Planned, patch: PatchOperation) -> Stored:
    kind = _kind(store, planned, patch.type_meta.api_version, patch.type_meta.kind)
    given = patch.patch_options
    options = PatchOptions(
        dry_run=bool(given and given.dry_run),
        field_manager=(given and given.field_manager) or FIELD_MANAGER,
        field_validation=cast(Any, (given and given.field_validation) or "Strict"),
        force=bool(given and given.force),
    )
    patched = store.patch(
        kind,
        patch.object_meta.name,
        _patch_of(planned, kind, patch),
        writer=writer_of(planned),
        namespace=_namespace(kind, patch.object_meta.namespace),
        subresource=patch.subresource,
        options=options,
    )
    if mentions(planned.data):
        check_annotations(patched.document(), planned.id)
    return patched


def _patch_of(planned: Planned, kind: Kind, patch: PatchOperation) -> Patch:
    body = _patch_body(planned, patch)
    if patch.patch_type:
        return Patch(cast(Any, PATCH_TYPES[patch.patch_type]), body)
    # The first version of the KEP names no patch type: a list is a JSON patch, the rest is what kubectl would send.
    if isinstance(body, list):
        return Patch("json", body)
    return Patch("strategic" if has_strategic_patch(kind) else "merge", body)


def _patch_body(planned: Planned, patch: PatchOperation) -> Any:
    if not patch.patch_type.endswith("yaml"):
        try:
            return orjson.loads(patch.patch)
        except orjson.JSONDecodeError:
            pass  # YAML is welcome whatever the patch type says
    try:
        documents = load_all(patch.patch)
    except (ValueError, SeatrialError) as error:
        raise ScenarioError(planned.id, f"patchOperation.patch is neither JSON nor YAML: {error}") from error
    if len(documents) != 1:
        raise ScenarioError(planned.id, f"patchOperation.patch: expected one document, got {len(documents)}")
    return documents[0]


def _delete(store: Store, planned: Planned, delete: DeleteOperation) -> Stored | None:
    kind = _kind(store, planned, delete.type_meta.api_version, delete.type_meta.kind)
    return store.delete(
        kind,
        delete.object_meta.name,
        writer=writer_of(planned),
        namespace=_namespace(kind, delete.object_meta.namespace),
        options=_delete_options(delete.delete_options or DeleteOptionsGiven()),
    )


def _delete_options(given: DeleteOptionsGiven) -> DeleteOptions:
    policy = given.propagation_policy or ""
    if given.orphan_dependents is not None and not policy:
        policy = "Orphan" if given.orphan_dependents else "Background"
    required = given.preconditions
    return DeleteOptions(
        grace_period_seconds=given.grace_period_seconds,
        propagation_policy=cast(Any, policy),
        preconditions_uid=(required and required.uid) or "",
        preconditions_resource_version=(required and required.resource_version) or "",
        dry_run=bool(given.dry_run),
    )


def _kind(store: Store, planned: Planned, api_version: str, kind: str) -> Kind:
    found = store.kinds.named(api_version, kind)
    if found is None:
        raise ScenarioError(planned.id, f'no matches for kind "{kind}" in version "{api_version}"')
    return found


def _namespace(kind: Kind, namespace: str | None) -> str:
    return (namespace or "default") if kind.namespaced else ""


def body_of(planned: Planned) -> tuple[Operation, bytes]:
    """An operation in typed form, and the body that the timeline repeats, exactly as it was given."""
    operation = _operations.decode(planned.data)
    given = _bodies.decode(planned.data)
    return operation, bytes(getattr(given, f"{verb_of(operation).lower()}_operation"))


class _Bodies(msgspec.Struct, rename="camel"):
    create_operation: msgspec.Raw = msgspec.Raw()
    patch_operation: msgspec.Raw = msgspec.Raw()
    delete_operation: msgspec.Raw = msgspec.Raw()
    done_operation: msgspec.Raw = msgspec.Raw()


_operations = msgspec.json.Decoder(Operation)
_bodies = msgspec.json.Decoder(_Bodies)


def target_of(operation: Operation) -> tuple[TypeMeta, str, str]:
    """Type, namespace and name of what a patch or delete is for."""
    target = operation.patch_operation or operation.delete_operation
    if target is None:
        return TypeMeta(), "", ""
    return target.type_meta, target.object_meta.namespace, target.object_meta.name
