"""x-kubernetes-validations: rules in CEL about an object and, in an update, about what it was before.

All rules about an object share one budget; a rule that fails on a part of the object that an update left as it was
is no error (ratcheting), unless the rule compares with the old value.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel (validation.go, values.go, maplist.go).
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

from seatrial.model.cel import (
    NO_OVERLOAD,
    NONE,
    CelError,
    CelSyntaxError,
    Optional,
    Program,
    compile_expression,
    duration_of,
    timestamp_of,
)
from seatrial.model.cel.costs import PER_CALL_LIMIT, RUNTIME_BUDGET, CostExceeded, Meter
from seatrial.model.cel.declarations import names_in_rules
from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.crd.ratcheting import ABSENT, old_items
from seatrial.store.field_errors import duplicate, forbidden, invalid, required

RULES = "x-kubernetes-validations"
VARIABLES = frozenset(("self", "oldSelf"))
OLD_SELF = re.compile(r"\boldSelf\b")
LONGEST_MESSAGE = 5 * 1024
"""Bytes of a message that an expression makes."""
_OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"


class Expressions:
    """All rules of a schema, at any depth."""

    def __init__(self, openapi: Document, *, root: bool = True) -> None:
        self._openapi = openapi
        self._root = root
        self._ruled: set[int] = set()
        self._find_rules(openapi)

    @property
    def has_rules(self) -> bool:
        return bool(self._ruled)

    def causes(self, document: Any, old: Any, path: str = "") -> list[Cause]:
        """The errors of an object by the rules; `old` is the object before (None: it is new)."""
        if not self._ruled:
            return []
        evaluation = _Evaluation(self._ruled)
        before = ABSENT if old is None else old
        with suppress(_Stop):
            evaluation.visit(self._openapi, document, before, path, unchanged=False, root=self._root)
        return evaluation.found

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


class _Stop(Exception):
    """Raised when the budget is spent: no more rules are evaluated."""


class _Evaluation:
    """The rules of one object, evaluated one after the other until the budget is spent."""

    def __init__(self, ruled: set[int]) -> None:
        self.found: list[Cause] = []
        self._ruled = ruled
        self._budget = RUNTIME_BUDGET

    def visit(self, schema: Document, value: Any, old: Any, path: str, *, unchanged: bool, root: bool = False) -> None:
        """Evaluate the rules of a value and of everything in it; `unchanged` is that of the nearest known ancestor."""
        if value is None or id(schema) not in self._ruled:
            return
        if old is not ABSENT:
            unchanged = bool(value == old)
        if schema.get(RULES):
            self._rules(schema, value, old, path, unchanged, root)
        for known, item, before, here in _inner(schema, value, old, path):
            # An item without an old value inherits its ancestor's; a key that was not there before is new.
            inherited = unchanged if isinstance(value, list) else False
            self.visit(known, item, before, here, unchanged=inherited)

    def _rules(self, schema: Document, value: Any, old: Any, path: str, unchanged: bool, root: bool) -> None:
        field, type_ = path or "<nil>", schema.get("type", "")
        own = cel_value(schema, value, root)
        before = ABSENT if old is ABSENT or old is None else cel_value(schema, old, root)
        for rule in schema[RULES]:
            if self._budget <= 0:
                self._stop(invalid(field, type_, _OUT_OF_BUDGET))
            text, optional = str(rule.get("rule", "")), bool(rule.get("optionalOldSelf"))
            compares = OLD_SELF.search(text) is not None
            if compares and before is ABSENT and not optional:
                continue
            variables = {"self": own} | ({} if before is ABSENT else {"oldSelf": before})
            if optional:
                variables["oldSelf"] = NONE if before is ABSENT else Optional(before, True)
            if self._holds(rule, variables, field, type_):
                continue
            plain = {"self": own} | ({} if before is ABSENT else {"oldSelf": before})
            where = f"{path}{rule['fieldPath']}".removeprefix(".") if rule.get("fieldPath") else field
            message = self._message(rule, plain, where, type_)
            if compares or not unchanged:
                self.found.append(_failure(where, value, message, str(rule.get("reason") or "")))

    def _holds(self, rule: Document, variables: dict[str, Any], field: str, type_: str) -> bool:
        """Whether a rule is true; one that cannot be evaluated is reported and counts as true."""
        meter = Meter(PER_CALL_LIMIT)
        try:
            return compiled(str(rule.get("rule", ""))).evaluate(variables, meter) is True
        except CelSyntaxError as error:
            self.found.append(invalid(field, type_, f"rule compile error: {error}"))
        except CostExceeded as error:
            why = f"'{error}': no further validation rules will be run due to call cost exceeds limit for rule: "
            self._stop(invalid(field, type_, why + _shown(rule)))
        except CelError as error:
            text = f"{error} evaluating rule: {_shown(rule)}"
            if str(error).startswith(NO_OVERLOAD):
                what = "call arguments did not match a supported operator, function or macro signature for rule"
                text = f"'{error}': {what}: {_shown(rule)}"
            self.found.append(invalid(field, type_, text))
        finally:
            self._pay(meter, field, type_, _OUT_OF_BUDGET)
        return True

    def _message(self, rule: Document, variables: dict[str, Any], field: str, type_: str) -> str:
        """The message of a failed rule: its messageExpression where that gives a usable text, else its message."""
        message = str(rule.get("message") or "").strip() or f"failed rule: {_shown(rule)}"
        expression = str(rule.get("messageExpression") or "")
        if not expression:
            return message
        meter = Meter(PER_CALL_LIMIT)
        try:
            text = compiled(expression).evaluate(variables, meter)
        except CostExceeded:
            what = "no further validation rules will be run due to call cost exceeds limit for messageExpression"
            self._stop(invalid(field, type_, f'{what}: "{expression}"'))
        except CelError:
            return message
        finally:
            self._pay(meter, field, type_, f"messageExpression evaluation {_OUT_OF_BUDGET.removeprefix('validation ')}")
        said = text.strip() if isinstance(text, str) else ""
        return said if said and "\n" not in said and len(said.encode()) <= LONGEST_MESSAGE else message

    def _pay(self, meter: Meter, field: str, type_: str, why: str) -> None:
        self._budget -= meter.spent
        if self._budget < 0:
            self._stop(invalid(field, type_, why))

    def _stop(self, cause: Cause) -> None:
        self.found.append(cause)
        raise _Stop


def _inner(schema: Document, value: Any, old: Any, path: str) -> Iterator[tuple[Document, Any, Any, str]]:
    """The values inside a value: schema, value, old value and path of each."""
    if isinstance(value, dict):
        properties, extra = schema.get("properties") or {}, schema.get("additionalProperties")
        for key, item in value.items():
            known = properties.get(key, extra if isinstance(extra, dict) else None)
            if known is not None:
                before = old.get(key, ABSENT) if isinstance(old, dict) else ABSENT
                here = f"{path}.{key}" if key in properties else f"{path}[{key}]"
                yield known, item, before, here.removeprefix(".")
    elif isinstance(value, list) and isinstance(items := schema.get("items"), dict):
        for index, before in enumerate(old_items(schema, value, old)):
            yield items, value[index], before, f"{path}[{index}]"


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


def _shown(rule: Document) -> str:
    return str(rule.get("message") or rule.get("rule") or "").strip()


@lru_cache(4096)
def compiled(text: str) -> Program:
    """The program of a rule; CelSyntaxError where it is no expression."""
    return compile_expression(text, VARIABLES)


def cel_value(schema: Document, value: Any, root: bool = False) -> Any:
    """A value as a rule sees it: by the types of its schema, under names that CEL can read."""
    if isinstance(value, dict):
        return _cel_object(schema, value, root)
    if isinstance(value, list):
        items = schema.get("items")
        return [cel_value(items, item) for item in value] if isinstance(items, dict) else value
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
        return {key: cel_value(extra, item) for key, item in value.items()}
    if properties is None and not root:
        return value
    result = {}
    for key, known in (properties or {}).items():
        if key in value and (names := names_in_rules(key)):
            result.update(dict.fromkeys(names, cel_value(known, value[key])))
    if root or schema.get("x-kubernetes-embedded-resource"):
        metadata = value.get("metadata") or {}
        result["metadata"] = {key: metadata[key] for key in ("name", "generateName") if key in metadata}
        result.update((key, value[key]) for key in ("apiVersion", "kind") if key in value)
    return result
