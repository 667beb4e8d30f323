"""Validation of x-kubernetes-validations in a CustomResourceDefinition: expressions, messages and estimated cost.

The cost of a rule is estimated for the largest object that the schema allows, times the number of places where the
rule may apply; one rule and all rules together have a limit.

Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation (validation.go, cel_validation.go) and
pkg/apiserver/schema/cel/compilation.go.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from seatrial.model.cel import MOST, CelSyntaxError, Estimator, Known
from seatrial.model.cel.declarations import MAX_REQUEST_BYTES, DeclType, declared_type
from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.crd.validation_rules import OLD_SELF, RULES, compiled
from seatrial.store.field_errors import forbidden, invalid, required, unsupported

RULE_COST_LIMIT = 10_000_000
DEFINITION_COST_LIMIT = 100_000_000
REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_BREAK = re.compile(r"[\n\r]")
_FIELD_PATH = re.compile(r"\.([a-zA-Z_][a-zA-Z0-9_]*)|\['((?:[^'\\]|\\.)*)'\]")
_EXPENSIVE_FROM = DEFINITION_COST_LIMIT // 100
_REMEDY = "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"  # noqa: E501


def rule_text_causes(schema: Document, rule: Document, path: str) -> Iterator[Cause]:
    """The errors in the texts of a rule that need no compilation to find."""
    text, message = str(rule.get("rule") or "").strip(), str(rule.get("message") or "")
    if not text:
        yield required(f"{path}.rule", "rule is not specified")
    elif message and not message.strip():
        yield invalid(f"{path}.message", message, "must be non-empty if specified")
    elif _BREAK.search(message.strip()):
        yield invalid(f"{path}.message", message, "must not contain line breaks")
    elif _BREAK.search(text) and not message.strip():
        yield required(f"{path}.message", "message must be specified if rule contains line breaks")
    expression = rule.get("messageExpression")
    if expression and not expression.strip():
        yield required(f"{path}.messageExpression", "messageExpression must be non-empty if specified")
    if rule.get("reason") is not None and rule["reason"] not in REASONS:
        yield unsupported(f"{path}.reason", rule["reason"], REASONS)
    place = rule.get("fieldPath")
    if place and not place.strip():
        yield invalid(f"{path}.fieldPath", place, "must be non-empty if specified")
    if place and _BREAK.search(place):
        yield invalid(f"{path}.fieldPath", place, "must not contain line breaks")
    if place and not _is_path(schema, place):
        yield invalid(f"{path}.fieldPath", place, "must be a valid path")


def _is_path(schema: Any, path: str) -> bool:
    """Whether a path leads to a field of the schema."""
    while path:
        match = _FIELD_PATH.match(path)
        if match is None or not isinstance(schema, dict):
            return False
        name = match.group(1) or match.group(2)
        extra = schema.get("additionalProperties")
        schema = (schema.get("properties") or {}).get(name, extra if match.group(2) else None)
        if schema is None:
            return False
        path = path[match.end() :]
    return True


@dataclass
class _Costs:
    """The estimates of all rules of a definition."""

    total: int = 0
    expensive: list[tuple[int, str]] = field(default_factory=list)

    def add(self, path: str, cost: int) -> None:
        self.total = min(self.total + cost, MOST)
        if cost >= _EXPENSIVE_FROM:
            self.expensive = sorted([*self.expensive, (cost, path)], key=lambda each: -each[0])[:4]


def rule_causes(schema: Document, path: str) -> list[Cause]:
    """The errors of the rules of a valid schema: they do not compile, or cost too much."""
    costs = _Costs()
    found = list(_walk(schema, path, costs, cardinality=1, uncorrelated="", root=True))
    if costs.total > DEFINITION_COST_LIMIT:
        why = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
        found += [forbidden(place, why) for _, place in costs.expensive]
        what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        found.append(forbidden(path, _exceeds(what, costs.total, DEFINITION_COST_LIMIT)))
    return found


def _walk(
    schema: Document, path: str, costs: _Costs, *, cardinality: int | None, uncorrelated: str, root: bool = False
) -> Iterator[Cause]:
    """The causes of a schema and the schemas in it; `cardinality` is how often it may apply, None for no bound."""
    inside = None if cardinality is None else _most_elements(schema, cardinality)
    if isinstance(extra := schema.get("additionalProperties"), dict):
        yield from _walk(extra, f"{path}.additionalProperties", costs, cardinality=inside, uncorrelated=uncorrelated)
    for key, known in (schema.get("properties") or {}).items():
        if isinstance(known, dict):
            here = f"{path}.properties[{key}]"
            yield from _walk(known, here, costs, cardinality=inside, uncorrelated=uncorrelated)
    if isinstance(items := schema.get("items"), dict):
        lost = uncorrelated if schema.get("x-kubernetes-list-type") == "map" else path
        yield from _walk(items, f"{path}.items", costs, cardinality=inside, uncorrelated=lost)
    if schema.get(RULES):
        declared = declared_type(schema, root=root)
        if declared is not None:
            for index, rule in enumerate(schema[RULES]):
                here = f"{path}.{RULES}[{index}]"
                yield from _expression_causes(rule, here, declared, costs, cardinality, uncorrelated)


def _most_elements(schema: Document, cardinality: int) -> int | None:
    """How often the schemas inside a schema may apply."""
    most: int | None = 1
    if schema.get("type") == "array":
        most = schema.get("maxItems")
    elif schema.get("type") == "object" and schema.get("additionalProperties"):
        most = schema.get("maxProperties")
    return None if most is None else min(cardinality * max(most, 0), MOST)


def _expression_causes(
    rule: Document, path: str, declared: DeclType, costs: _Costs, cardinality: int | None, uncorrelated: str
) -> Iterator[Cause]:
    text = str(rule["rule"])
    most = MAX_REQUEST_BYTES // (declared.min_size + 1) if cardinality is None else cardinality
    compares = OLD_SELF.search(text) is not None
    try:
        known = _estimate(text, declared, bool(rule.get("optionalOldSelf")))
        if known.type.name not in ("bool", "dyn"):
            yield invalid(f"{path}.rule", rule, "cel expression must evaluate to a bool")
            return
        yield from _cost_causes(f"{path}.rule", "estimated rule cost", min(known.cost * most, MOST), costs)
    except CelSyntaxError as error:
        yield invalid(f"{path}.rule", rule, f"compilation failed: {error}")
        return
    if rule.get("messageExpression"):
        yield from _message_causes(rule, path, declared, costs)
    if compares and uncorrelated:
        why = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {uncorrelated}"
        yield invalid(f"{path}.rule", text, why)
    elif not compares and rule.get("optionalOldSelf") is not None:
        why = "may not be set if oldSelf is not used in rule"
        yield invalid(f"{path}.optionalOldSelf", rule["optionalOldSelf"], why)


def _message_causes(rule: Document, path: str, declared: DeclType, costs: _Costs) -> Iterator[Cause]:
    here = f"{path}.messageExpression"
    try:
        known = _estimate(str(rule["messageExpression"]), declared, bool(rule.get("optionalOldSelf")))
    except CelSyntaxError as error:
        yield invalid(here, rule, f"messageExpression compilation failed: {error}")
        return
    if known.type.name not in ("string", "dyn"):
        yield invalid(here, rule, "messageExpression must evaluate to a string")
    else:
        yield from _cost_causes(here, "estimated messageExpression cost", known.cost, costs)


def _estimate(text: str, declared: DeclType, optional: bool) -> Known:
    compiled(text)
    before = DeclType("dyn") if optional else declared
    try:
        return Estimator(declared).estimate(text, {"self": declared, "oldSelf": before})
    except RecursionError as error:
        raise CelSyntaxError("expression nested too deeply") from error


def _cost_causes(path: str, what: str, cost: int, costs: _Costs) -> Iterator[Cause]:
    costs.add(path, cost)
    if cost > RULE_COST_LIMIT:
        yield forbidden(path, _exceeds(what, cost, RULE_COST_LIMIT))


def _exceeds(what: str, cost: int, limit: int) -> str:
    factor = cost / limit
    shown = "more than 100x" if factor > 100 else f"{factor:f}x" if factor < 1.5 else f"{factor:.1f}x"
    return f"{what} exceeds budget by factor of {shown} {_REMEDY}"
