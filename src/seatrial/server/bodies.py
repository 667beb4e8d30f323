"""Reading request bodies: JSON, YAML and protobuf become documents; anything else is refused by name."""

import json
from collections.abc import Iterable
from typing import Any

import orjson

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest, UnsupportedMediaType
from seatrial.model.kinds import Kind
from seatrial.server import protobufs
from seatrial.server.messages import Request
from seatrial.server.negotiation import JSON, OFFERED, PROTOBUF, YAML, media_type
from seatrial.server.yaml import from_yaml
from seatrial.store.options import Patch, PatchType

PATCH_TYPES: dict[str, PatchType] = {
    "application/json-patch+json": "json",
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/apply-patch+yaml": "apply",
}


def read_object(request: Request, kind: Kind, *, allow_other: bool = False) -> Document:
    """The object in the body, which must be of the kind that the path names (unless another one is allowed)."""
    document = read_any(request, kind)
    if not isinstance(document, dict):
        raise BadRequest(
            f"couldn't get version/kind; json parse error: json: cannot unmarshal {_type_of(document)} into Go value "
            "of type struct { APIVersion string; Kind string }"
        )
    api_version, name = document.get("apiVersion"), document.get("kind")
    for field, value in (("apiVersion", api_version), ("kind", name)):
        if value is not None and not isinstance(value, str):
            raise BadRequest(f"couldn't get version/kind; json parse error: {field}: expected a string")
    if not allow_other and ((api_version or kind.api_version) != kind.api_version or (name or kind.kind) != kind.kind):
        raise BadRequest(
            f"{name or kind.kind} in version {_quoted(api_version or kind.api_version)} cannot be handled as a "
            f"{kind.kind}: no kind {_quoted(name or kind.kind)} is registered for version "
            f"{_quoted(api_version or kind.api_version)} at this path"
        )
    document.setdefault("kind", kind.kind)
    document.setdefault("apiVersion", kind.api_version)
    return document


def read_any(request: Request, kind: Kind) -> Any:
    """Whatever the body holds; a protobuf body is read as `kind` unless its envelope names another."""
    media = media_type(request.header("content-type")) or JSON
    if media == JSON:
        return read_json(request)
    if media == PROTOBUF:
        if not request.body:
            raise BadRequest("the body of the request was empty")
        return protobufs.decode(kind, request.body)
    if media == YAML:
        return from_yaml(request.body)
    raise unsupported_media(OFFERED)


def read_json(request: Request) -> Any:
    """The JSON of the body; duplicate fields are refused or warned of as fieldValidation says."""
    body = request.body
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"couldn't get version/kind; json parse error: {error}") from None
    validation = request.query.get("fieldValidation") or "Warn"
    # Equal length of the encoded form means that nothing was left out, so the search is for other bodies only.
    if validation != "Ignore" and len(orjson.dumps(document)) != len(body):
        duplicates = _duplicates(body)
        if duplicates and validation == "Strict":
            raise BadRequest("strict decoding error: " + ", ".join(duplicates))
        request.warnings.extend(duplicates)
    return document


def read_patch(request: Request, *, strategic: bool) -> Patch:
    """The patch in the body, by its content type."""
    media = media_type(request.header("content-type"))
    type = PATCH_TYPES.get(media)
    if type is None or (type == "strategic" and not strategic):
        offered = [name for name in PATCH_TYPES if strategic or PATCH_TYPES[name] != "strategic"]
        raise unsupported_media(sorted(offered))
    if type == "apply":
        body = from_yaml(request.body)
        if not isinstance(body, dict):
            raise BadRequest("error decoding YAML: the apply configuration must be an object")
        return Patch(type, body)
    try:
        body = orjson.loads(request.body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"error decoding patch: {error}") from None
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


def _duplicates(body: bytes) -> list[str]:
    found: list[str] = []

    def notice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen and (text := f'duplicate field "{key}"') not in found:
                found.append(text)
            seen.add(key)
        return dict(pairs)

    try:
        json.loads(body, object_pairs_hook=notice)
    except (ValueError, RecursionError):
        return []
    return found


def _type_of(value: Any) -> str:
    names = {str: "string", bool: "bool", int: "number", float: "number", list: "array"}
    return names.get(type(value), "null")


def _quoted(text: Any) -> str:
    return f'"{text}"'
