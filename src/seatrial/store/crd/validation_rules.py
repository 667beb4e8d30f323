"""x-kubernetes-validations: rules in CEL about an object and, in an update, about what it was before.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel (validation.go, values.go, maplist.go).
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from seatrial.model.cel.evaluator import CelError, CelSyntaxError, Program, compile_expression
from seatrial.model.cel.times import duration_of, timestamp_of
from seatrial.model.cel.values import NONE, Optional
from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, forbidden, invalid, required, shown

RULES = "x-kubernetes-validations"
VARIABLES = frozenset(("self", "oldSelf"))
_OLD = re.compile(r"\boldSelf\b")
_RESERVED = re.compile(
    "true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package|namespace|return|var|"
    "void|while"
)
_ESCAPES = (("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__"))
_ABSENT = object()


class Expressions:
    """The rules of a schema, wherever they stand in it."""

    def __init__(self, openapi: Document) -> None:
        self._openapi = openapi
        self._ruled: set[int] = set()
        self._find_rules(openapi)

    def causes(self, document: Document, old: Document | None) -> list[Cause]:
        """What the rules find wrong with an object that was `old` before."""
        return list(self._causes(self._openapi, document, _ABSENT if old is None else old, "", root=True))

    def _find_rules(self, schema: Any) -> bool:
        """Remember the parts of the schema that have rules in them."""
        if not isinstance(schema, dict):
            return False
        inner = (schema.get("items"), schema.get("additionalProperties"), *(schema.get("properties") or {}).values())
        found = [self._find_rules(each) for each in inner]
        if any(found) or schema.get(RULES):
            self._ruled.add(id(schema))
            return True
        return False

    def _causes(self, schema: Document, value: Any, old: Any, path: str, *, root: bool = False) -> Iterator[Cause]:
        if value is None or id(schema) not in self._ruled:
            return
        if schema.get(RULES):
            yield from _rule_causes(schema, value, old, path, root)
        if isinstance(value, dict):
            properties, extra = schema.get("properties") or {}, schema.get("additionalProperties")
            for key, item in value.items():
                known = properties.get(key, extra if isinstance(extra, dict) else None)
                if known is not None:
                    before = old.get(key, _ABSENT) if isinstance(old, dict) else _ABSENT
                    here = f"{path}.{key}" if key in properties else f"{path}[{key}]"
                    yield from self._causes(known, item, before, here.removeprefix("."))
        elif isinstance(value, list) and isinstance(items := schema.get("items"), dict):
            befores = _old_items(schema, value, old)
            for index, item in enumerate(value):
                yield from self._causes(items, item, befores[index], f"{path}[{index}]")


def _old_items(schema: Document, value: list[Any], old: Any) -> list[Any]:
    """For each item what it was before: only lists that are maps tell."""
    if not isinstance(old, list) or schema.get("x-kubernetes-list-type") != "map":
        return [_ABSENT] * len(value)
    keys = schema.get("x-kubernetes-list-map-keys") or ()

    def key_of(item: Any) -> str:
        return shown([item.get(key) for key in keys]) if isinstance(item, dict) else ""

    before = {key_of(item): item for item in old}
    return [before.get(key_of(item), _ABSENT) for item in value]


def _rule_causes(schema: Document, value: Any, old: Any, path: str, root: bool) -> Iterator[Cause]:
    own = _cel_value(schema, value, root)
    before = _ABSENT if old is _ABSENT or old is None else _cel_value(schema, old, root)
    field, type_ = path or "<nil>", schema.get("type", "")
    for rule in schema[RULES]:
        text = str(rule.get("rule", ""))
        optional = bool(rule.get("optionalOldSelf"))
        if _OLD.search(text) and before is _ABSENT and not optional:
            continue
        variables = {"self": own}
        if optional:
            variables["oldSelf"] = NONE if before is _ABSENT else Optional(before, True)
        elif before is not _ABSENT:
            variables["oldSelf"] = before
        try:
            if _program(text).evaluate(variables) is True:
                continue
        except CelSyntaxError as error:
            yield invalid(field, type_, f"rule compile error: {error}")
            continue
        except CelError as error:
            yield invalid(field, type_, f"{error} evaluating rule: {_shown(rule)}")
            continue
        where = f"{path}{rule['fieldPath']}".removeprefix(".") if rule.get("fieldPath") else field
        yield _failure(where, value, _message(rule, variables), str(rule.get("reason") or ""))


def _failure(field: str, value: Any, detail: str, reason: str) -> Cause:
    if reason == "FieldValueForbidden":
        return forbidden(field, detail)
    if reason == "FieldValueRequired":
        return required(field, detail)
    if reason == "FieldValueDuplicate":
        return duplicate(field, value)
    if isinstance(value, dict | list):
        return Cause(field, f"Invalid value: {detail}", "FieldValueInvalid")
    return invalid(field, value, detail)


def _message(rule: Document, variables: dict[str, Any]) -> str:
    expression = rule.get("messageExpression")
    if expression:
        try:
            text = _program(str(expression)).evaluate(variables)
        except CelError:
            text = ""
        if isinstance(text, str) and text.strip() and "\n" not in text:
            return text.strip()
    message = str(rule.get("message") or "").strip()
    return message or f"failed rule: {_shown(rule)}"


def _shown(rule: Document) -> str:
    return str(rule.get("message") or rule.get("rule") or "").strip()


@lru_cache(4096)
def _program(text: str) -> Program:
    return compile_expression(text, VARIABLES)


def check_expression(text: str) -> str:
    """Why an expression cannot be compiled; nothing when it can."""
    try:
        _program(text)
    except CelSyntaxError as error:
        return str(error)
    return ""


def _cel_value(schema: Document, value: Any, root: bool = False) -> Any:
    """A value as a rule sees it: by the types of its schema, under names that CEL can read."""
    if isinstance(value, dict):
        return _cel_object(schema, value, root)
    if isinstance(value, list):
        items = schema.get("items")
        return [_cel_value(items, item) for item in value] if isinstance(items, dict) else value
    if schema.get("x-kubernetes-int-or-string"):
        return value
    if schema.get("type") == "number" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        match schema.get("format"):
            case "date-time":
                return timestamp_of(value)
            case "duration":
                return duration_of(value)
    return value


def _cel_object(schema: Document, value: Document, root: bool) -> Document:
    properties, extra = schema.get("properties"), schema.get("additionalProperties")
    if isinstance(extra, dict):
        return {key: _cel_value(extra, item) for key, item in value.items()}
    if properties is None and not root:
        return value
    result = {_escaped(key): _cel_value(known, value[key]) for key, known in (properties or {}).items() if key in value}
    if root or schema.get("x-kubernetes-embedded-resource"):
        metadata = value.get("metadata") or {}
        result["metadata"] = {key: metadata[key] for key in ("name", "generateName") if key in metadata}
        result.update((key, value[key]) for key in ("apiVersion", "kind") if key in value)
    return result


def _escaped(name: str) -> str:
    if _RESERVED.fullmatch(name):
        return f"__{name}__"
    for letters, replacement in _ESCAPES:
        name = name.replace(letters, replacement)
    return name
