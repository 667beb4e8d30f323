"""Validation of schema defaults: each must be valid by the schema it is in.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import orjson

from seatrial.model.decoding import prune
from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.schema import schema_from_openapi
from seatrial.store.crd.schema_validation import Validator
from seatrial.store.crd.validation_rules import Expressions
from seatrial.store.field_errors import invalid


def default_causes(schema: Any, path: str) -> Iterator[Cause]:
    """The errors in the defaults of a schema and of the schemas in it."""
    if not isinstance(schema, dict):
        return
    if schema.get("default") is not None:
        yield from _causes(schema, f"{path}.default")
    yield from default_causes(schema.get("items"), f"{path}.items")
    for key, known in (schema.get("properties") or {}).items():
        yield from default_causes(known, f"{path}.properties[{key}]")


def _causes(schema: Document, path: str) -> Iterator[Cause]:
    value = schema["default"]
    pruned = orjson.loads(orjson.dumps(value))
    prune(schema_from_openapi(schema), pruned)
    if pruned != value:
        yield invalid(path, value, "must not have unknown fields")
    wrong = Validator(schema).causes(value)
    if wrong:
        for cause in wrong:
            inner = "" if cause.field == "<nil>" else cause.field
            where = f"{path}.{inner}" if inner and not inner.startswith("[") else f"{path}{inner}"
            yield replace(cause, field=where)
        return
    expressions = Expressions(schema, root=False)
    yield from expressions.causes(value, value, path) or expressions.causes(value, None, path)
