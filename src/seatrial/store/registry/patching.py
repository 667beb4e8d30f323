"""Patches an object: the patch is applied to the latest state, then written like any update.

Upstream: k8s.io/apiserver/pkg/endpoints/handlers/patch.go.
"""

from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from seatrial.model.decoding import CannotHandle
from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest
from seatrial.model.kinds import Kind
from seatrial.model.patches import apply_json_patch, apply_merge_patch, apply_strategic_patch
from seatrial.model.schema import Schema, schema_of
from seatrial.store.deferral import check_size, large_object, weigh
from seatrial.store.managed_fields import applied
from seatrial.store.metadata import copied, not_found
from seatrial.store.objects import Stored
from seatrial.store.options import CreateOptions, Patch, PatchOptions, WriteOptions
from seatrial.store.registry.patch_refusals import refusal
from seatrial.store.registry.scale import SCALE, apply_scale, check_scalable, scale_of
from seatrial.store.registry.status_apart import split

if TYPE_CHECKING:
    from seatrial.store.store import Store


def patch(
    store: "Store",
    kind: Kind,
    name: str,
    patch: Patch,
    namespace: str,
    writer: str,
    subresource: str,
    options: PatchOptions,
) -> Stored:
    """Patch an object, or one of its subresources."""
    current = store.find_current(kind, name, namespace)
    if current is None:
        if patch.type == "apply" and not subresource:
            return _create_by_apply(store, kind, name, patch.body, namespace, writer, options)
        raise not_found(kind, name)
    weigh(current.size)
    if subresource == "scale":
        document = store.versions.read(kind, current).document()
        return _scale(store, kind, document, patch, current, writer, options)

    apart = split(store, kind, current, subresource)

    def work(warnings: list[str] | None) -> Document:
        document = apart.read()
        revision = document["metadata"]["resourceVersion"]
        if patch.type == "apply":
            result = applied(store, kind, name, patch.body, document, subresource, options)
        else:
            result = patched(kind, document, patch, store.rules.schema(kind))
            result = _decoded(store, kind, result, patch, options.warning(warnings))
        if apart.status and result["metadata"].get("resourceVersion") == revision:
            # The status may be written before the patch is; only a revision that the patch itself names counts.
            del result["metadata"]["resourceVersion"]
        return result

    changed = large_object("patch", lambda: apart.key, work, options.warnings, partial(check_size, custom=kind.custom))
    # What is done here is not done again by the update.
    options = replace(options, tracked=True) if patch.type == "apply" else replace(options, trusted=True)
    return store.update_from(kind, changed, current, writer, subresource, options)


def _decoded(store: "Store", kind: Kind, document: Document, patch: Patch, options: PatchOptions) -> Document:
    """The patched document in canonical form; a patch that leaves no object of the kind is refused as such."""
    before = copied(document)
    try:
        return store.rules.decode(kind, document, options)
    except CannotHandle as error:
        raise refusal(patch, before, error, store.rules.schema(kind)) from error


def patched(kind: Kind, document: Document, patch: Patch, schema: Schema | None) -> Document:
    """The document after a JSON, merge or strategic merge patch."""
    match patch.type:
        case "json":
            result: Any = apply_json_patch(document, patch.body)
        case "merge":
            result = apply_merge_patch(document, patch.body)
        case "strategic":
            result = apply_strategic_patch(document, patch.body, schema)
        case _:
            raise BadRequest(f"unknown patch type: {patch.type}")
    if not isinstance(result, dict):
        raise BadRequest(f"{kind.kind} cannot be patched into something that is no object")
    if (result.get("apiVersion"), result.get("kind")) != (kind.api_version, kind.kind):
        given = f'{result.get("kind")} in version "{result.get("apiVersion")}"'
        raise BadRequest(f"{given} cannot be handled as a {kind.kind}")
    return result


def _create_by_apply(
    store: "Store", kind: Kind, name: str, config: Document, namespace: str, writer: str, options: PatchOptions
) -> Stored:
    document = large_object(
        "apply",
        lambda: b"",
        lambda _: applied(store, kind, name, config, None, "", options),
        None,
        partial(check_size, custom=kind.custom),
    )
    shared = {field.name: getattr(options, field.name) for field in fields(WriteOptions)}
    more = CreateOptions(**{**shared, "owned": True, "tracked": True})
    return store.create(kind, document, writer=writer, namespace=namespace, options=more)


def _scale(
    store: "Store",
    kind: Kind,
    document: Document,
    patch: Patch,
    current: Stored,
    writer: str,
    options: PatchOptions,
) -> Stored:
    """Patch the Scale of an object, and set the replicas of the patched Scale."""
    check_scalable(kind)
    paths = store.scale_paths(kind)
    scale = scale_of(document, paths)
    body = patch.body
    if patch.type == "apply":
        # An applied Scale sets its replicas and nothing else.
        patch = Patch("merge", {"spec": body.get("spec") or {}} if isinstance(body, dict) else body)
    apply_scale(kind, document, patched(SCALE, scale, patch, schema_of(SCALE)), paths)
    return store.update_from(kind, document, current, writer, "", options)
