"""Paths of OpenAPI v3 in the words of v2: a body is a parameter, and media types belong to the operation."""

from typing import Any

from seatrial.model.documents import Document

_OLD, _NEW = "#/components/schemas/", "#/definitions/"
_METHODS = ("get", "put", "post", "delete", "patch")


def paths_of_v3(paths: Document) -> Document:
    """The path items of a document."""
    return {path: _item(item) for path, item in paths.items()}


def _item(item: Document) -> Document:
    converted: Document = {method: _operation(item[method]) for method in _METHODS if method in item}
    if item.get("parameters"):
        converted["parameters"] = [_parameter(parameter) for parameter in item["parameters"]]
    return converted


def _operation(operation: Document) -> Document:
    answers: Document = operation["responses"]["200"]["content"]
    body: Document = operation.get("requestBody") or {}
    parameters = [_parameter(parameter) for parameter in operation.get("parameters", [])]
    if body:
        parameters.insert(0, _body(body))
    extensions = {key: value for key, value in operation.items() if key.startswith("x-kubernetes-")}
    return {
        "consumes": list(body["content"]) if body else ["*/*"],
        "operationId": operation["operationId"],
        "parameters": parameters,
        "produces": list(answers),
        "responses": {
            "200": {"description": "OK", "schema": _schema(answers)},
            "401": {"description": "Unauthorized"},
        },
        "schemes": ["https"],
        "tags": operation["tags"],
        **extensions,
    }


def _body(body: Document) -> Document:
    required = {"required": True} if body.get("required") else {}
    return {"name": "body", "in": "body", **required, "schema": _schema(body["content"])}


def _parameter(parameter: Document) -> Document:
    kept = {key: value for key, value in parameter.items() if key != "schema"}
    return {**kept, **parameter["schema"], "uniqueItems": True}


def _schema(content: Document) -> Any:
    """The schema of a content; it is the same for all its media types."""
    found: Document = next(iter(content.values()))["schema"]
    return {"$ref": found["$ref"].replace(_OLD, _NEW)}
