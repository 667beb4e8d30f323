"""The paths of a kind in an OpenAPI document: which verbs it takes where, with the parameters clients look for.

kubectl decides by the `fieldValidation` parameter of PATCH whether the server validates fields, and finds a resource's
kind by the operations on its paths.
"""

from collections.abc import Callable
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.schema import has_strategic_patch

NameOf = Callable[[str, str], str]
"""Answers the schema name of an apiVersion and kind."""

_PATCHES = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
)
_STRATEGIC = "application/strategic-merge-patch+json"
"""Not named for custom kinds, as upstream: kubectl then merges them by JSON merge patch."""
_MEDIA = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_WRITE = {"dryRun": "string", "fieldManager": "string", "fieldValidation": "string"}
_LIST = {
    "allowWatchBookmarks": "boolean", "continue": "string", "fieldSelector": "string", "labelSelector": "string",
    "limit": "integer", "resourceVersion": "string", "resourceVersionMatch": "string", "sendInitialEvents": "boolean",
    "timeoutSeconds": "integer", "watch": "boolean",
}  # fmt: skip
_DELETE = {
    "dryRun": "string", "gracePeriodSeconds": "integer", "orphanDependents": "boolean", "propagationPolicy": "string",
}  # fmt: skip
_PARAMETERS: dict[str, dict[str, str]] = {
    "list": _LIST,
    "get": {},
    "create": _WRITE,
    "update": _WRITE,
    "patch": {**_WRITE, "force": "boolean"},
    "delete": _DELETE,
    "deletecollection": {**_LIST, **_DELETE},
}
_COLLECTION = {"list": "get", "create": "post", "deletecollection": "delete"}
_ITEM = {"get": "get", "update": "put", "patch": "patch", "delete": "delete"}
_SUBRESOURCE = {**_ITEM, "create": "post"}
_ACTIONS = {"create": "post", "update": "put"}
_META = "io.k8s.apimachinery.pkg.apis.meta.v1"


def paths_of(kind: Kind, name_of: NameOf) -> Document:
    """The path items of a kind and its subresources."""
    root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
    collection = f"{root}/namespaces/{{namespace}}/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"
    item = f"{collection}/{{name}}"
    paths = {
        collection: _operations(kind, _COLLECTION, kind.verbs, kind.api_version, kind.kind, name_of),
        item: _operations(kind, _ITEM, kind.verbs, kind.api_version, kind.kind, name_of),
    }
    if kind.namespaced:
        everywhere = _operations(kind, {"list": "get"}, kind.verbs, kind.api_version, kind.kind, name_of)
        paths[f"{root}/{kind.plural}"] = everywhere
    for part in kind.subresource_facts:
        paths[f"{item}/{part.name}"] = _operations(
            kind, _SUBRESOURCE, part.verbs, part.api_version, part.kind, name_of, part.name
        )
    return {
        path: {**operations, "parameters": _path_parameters(path)} for path, operations in paths.items() if operations
    }


def _path_parameters(path: str) -> list[Document]:
    named = [name for name in ("name", "namespace") if f"{{{name}}}" in path]
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in named]


def _operations(
    kind: Kind,
    methods: dict[str, str],
    verbs: tuple[str, ...],
    api_version: str,
    spoken: str,
    name_of: NameOf,
    subresource: str = "",
) -> Document:
    group, _, version = api_version.rpartition("/")
    operations: Document = {}
    for verb, method in methods.items():
        if verb not in verbs:
            continue
        operations[method] = {
            "operationId": _operation_id(kind, verb, subresource),
            "tags": [f"{(kind.group or 'core').replace('.', '_')}_{kind.version}"],
            "parameters": [
                {"name": name, "in": "query", "schema": {"type": type_}} for name, type_ in _PARAMETERS[verb].items()
            ],
            **_body(verb, name_of(api_version, spoken), has_strategic_patch(kind)),
            "responses": {
                "200": {"description": "OK", "content": _content(_MEDIA, _answer(verb, api_version, spoken, name_of))}
            },
            "x-kubernetes-action": _ACTIONS.get(verb, verb),
            "x-kubernetes-group-version-kind": {"group": group, "version": version, "kind": spoken},
        }
    return operations


def _answer(verb: str, api_version: str, kind: str, name_of: NameOf) -> str:
    if verb in ("delete", "deletecollection"):
        return f"{_META}.Status"
    return name_of(api_version, f"{kind}List" if verb == "list" else kind)


def _body(verb: str, name: str, is_strategic: bool) -> Document:
    match verb:
        case "create" | "update":
            return {"requestBody": {"required": True, "content": _content(("*/*",), name)}}
        case "patch":
            media = (*_PATCHES, _STRATEGIC) if is_strategic else _PATCHES
            return {"requestBody": {"required": True, "content": _content(media, f"{_META}.Patch")}}
        case "delete" | "deletecollection":
            return {"requestBody": {"content": _content(("*/*",), f"{_META}.DeleteOptions")}}
        case _:
            return {}


def _content(media: tuple[str, ...], name: str) -> dict[str, Any]:
    return {each: {"schema": {"$ref": f"#/components/schemas/{name}"}} for each in media}


def _operation_id(kind: Kind, verb: str, subresource: str) -> str:
    group = (kind.group or "core").removesuffix(".k8s.io").split(".")
    words = [*group, kind.version, "namespaced" if kind.namespaced else "", kind.kind, subresource]
    return verb + "".join(word[:1].upper() + word[1:] for word in words)
