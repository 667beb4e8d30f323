"""Reading request bodies: JSON, YAML and protobuf become documents; anything else is refused by name."""

import dataclasses
from collections.abc import Iterable
from typing import Any, cast

import orjson

from seatrial.model.decoding import decode_body, json_error, unrecognized
from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest, UnsupportedMediaType
from seatrial.model.kinds import Kind
from seatrial.model.schema import Schema
from seatrial.server.encoding import protobuf as protobufs
from seatrial.server.encoding.negotiation import JSON, OFFERED, PROTOBUF, YAML, media_type
from seatrial.server.encoding.yaml import from_yaml
from seatrial.server.messages import Request
from seatrial.store.deferral import check_size, large, large_object
from seatrial.store.field_errors import invalid, refusal
from seatrial.store.options import FieldValidation, Patch, PatchType

SCHEME = "pkg/runtime/scheme.go:111"
"""What upstream calls the registry of all built-in kinds in its refusals."""
DELETE_OPTIONS = Kind("", "v1", "DeleteOptions", "deleteoptions")
PATCH_TYPES: dict[str, PatchType] = {
    "application/json-patch+json": "json",
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/apply-patch+yaml": "apply",
}


def read_object(request: Request, kind: Kind, schema: Schema | None = None) -> Document:
    """The object in the body, checked and in canonical form; it must be of the kind that the path names.

    `schema` is that of a custom kind. Unknown and duplicate fields are treated as fieldValidation says.
    """
    media = media_type(request.header("content-type")) or JSON
    if media == PROTOBUF and not kind.custom:
        document = protobufs.decode(kind, request.body)
    elif media in (JSON, YAML):
        validation = cast(FieldValidation, request.query.get("fieldValidation") or "Warn")
        document, warnings = _decoded(kind, request.body, validation, yaml=media == YAML, schema=schema)
        request.warnings.extend(warnings)
    else:
        raise unsupported_media((JSON, YAML) if kind.custom else OFFERED)
    if kind.custom:
        _check_custom_kind(kind, document, request.body)
    api_version, name = document.get("apiVersion") or kind.api_version, document.get("kind") or kind.kind
    if (api_version, name) != (kind.api_version, kind.kind):
        version = api_version.rpartition("/")[2]
        raise BadRequest(
            f'{name} in version "{version}" cannot be handled as a {kind.kind}: no kind "{name}" is registered '
            f'for version "{api_version}" in scheme "{SCHEME}"'
        )
    document["kind"], document["apiVersion"] = name, api_version
    return document


def _check_custom_kind(kind: Kind, document: Document, body: bytes) -> None:
    """An object of a custom kind must name it: nothing is taken from the path."""
    named = document.get("kind") or ""
    if not named:
        raise unrecognized(kind, f"Object 'Kind' is missing in '{body.decode('utf-8', 'replace')}'", body)
    group_version = document.get("apiVersion") or ""
    if named != kind.kind and group_version == kind.api_version:
        name = (document.get("metadata") or {}).get("name", "")
        other = dataclasses.replace(kind, kind=named)
        raise refusal(other, name, [invalid("kind", named, f"must be {kind.kind}")])


def _decoded(
    kind: Kind, body: bytes, validation: FieldValidation, *, yaml: bool, schema: Schema | None
) -> tuple[Document, list[str]]:
    """The object and the warnings about it; a large one is read on another thread."""
    warnings: list[str] = []

    def work(found: list[str] | None) -> Document:
        document, more = decode_body(kind, body, validation, yaml=yaml, schema=schema)
        if found is not None:
            found.extend(more)
        return document

    def check(document: Document, most_values: float) -> None:
        # Defaults add values and remove none: what is too large already is refused before they are filled in.
        named = {**document, "apiVersion": kind.api_version, "kind": kind.kind}
        check_size(named, most_values, custom=kind.custom)

    return large_object("decode", lambda: b"", work, warnings, check), warnings


def read_options(request: Request) -> Any:
    """The DeleteOptions of a body."""
    media = media_type(request.header("content-type")) or JSON
    if media == PROTOBUF:
        return protobufs.decode(DELETE_OPTIONS, request.body)
    if media == YAML:
        return from_yaml(request.body)
    if media == JSON:
        return from_json(request.body)
    raise unsupported_media(OFFERED)


def read_json(request: Request) -> Any:
    """The JSON of the body, which must be declared as such."""
    check_json(request)
    return from_json(request.body)


def check_json(request: Request) -> None:
    """Refuse a body that is not declared as JSON: a form of a web page can send other types unasked."""
    if media_type(request.header("content-type")) != JSON:
        raise unsupported_media((JSON,))


def from_json(body: bytes) -> Any:
    """The document in a JSON text; BadRequest if it is not one."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"couldn't get version/kind; json parse error: {error}") from None


def read_patch(request: Request, *, strategic: bool) -> Patch:
    """The patch in the body, by its content type."""
    media = media_type(request.header("content-type"))
    type = PATCH_TYPES.get(media)
    if type == "strategic" and not strategic:
        offered = (media for media, known in PATCH_TYPES.items() if known != "strategic")
        raise unsupported_media(tuple(offered))
    if type is None:
        raise UnsupportedMediaType("415: Unsupported Media Type", detailed=True)
    if type == "apply":
        body = large("patch", lambda: b"", lambda: from_yaml(request.body))
        if not isinstance(body, dict):
            raise BadRequest("error decoding YAML: the apply configuration must be an object")
        return Patch(type, body)
    try:
        body = orjson.loads(request.body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"error decoding patch: {json_error(request.body, error.pos)}") from None
    if type == "json" and not isinstance(body, list):
        raise BadRequest("error decoding patch: a JSON patch must be a list of operations")
    if type != "json" and not isinstance(body, dict):
        raise BadRequest("error decoding patch: a merge patch must be an object")
    return Patch(type, body)


def unsupported_media(offered: Iterable[str]) -> UnsupportedMediaType:
    """The refusal of a content type."""
    return UnsupportedMediaType(
        f"the body of the request was in an unknown format - accepted media types include: {', '.join(offered)}"
    )
