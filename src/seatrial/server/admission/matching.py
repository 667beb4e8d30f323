"""Matches requests with a webhook or policy: rules, selectors and match conditions.

Upstream: k8s.io/apiserver/pkg/admission/plugin/webhook/predicates and plugin/policy/matching.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from seatrial.model.cel import CelError, CelSyntaxError, Meter, compile_expression
from seatrial.model.cel.costs import PER_CALL_LIMIT, RUNTIME_BUDGET
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import LabelSelector
from seatrial.store import Request
from seatrial.store.deferral import isolated, seen
from seatrial.store.validation import VARIABLES

ALL = "*"
GROUP = "admissionregistration.k8s.io"
CONDITIONS_BUDGET = RUNTIME_BUDGET // 4
"""What the match conditions of one webhook or policy may cost together."""
OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"


class ConditionError(Exception):
    """A match condition that cannot be evaluated."""


def rules_match(rules: Iterable[Document], request: Request) -> bool:
    """Whether one of the rules names the operation and resource of a request."""
    return any(_rule_matches(rule, request) for rule in rules)


def matched(rules: Iterable[Document], policy: str, request: Request) -> Request | None:
    """The request as the rules name it, or None; by the policy Equivalent they may name another version of its kind."""
    rules = tuple(rules)
    if rules_match(rules, request):
        return request
    named = (each for rule in rules for each in rule.get("resources") or ())
    if policy == "Exact" or not any(_names(each, request.kind.plural, request.subresource) for each in named):
        return None
    versions = request.store.versions
    key = versions.key(request.kind)
    for kind in request.store.kinds:
        if versions.key(kind) == key and rules_match(rules, replace(request, kind=kind)):
            return _in_version(request, kind)
    return None


def _in_version(request: Request, kind: Kind) -> Request:
    convert = request.store.versions.convert
    old = convert(kind, [request.old])[0] if request.old is not None else None
    document = old if request.document is request.old and old is not None else convert(kind, [request.document])[0]
    return replace(request, kind=kind, document=document, old=old)


def take_over(request: Request, seen: Request) -> None:
    """Give a request the object that was changed in the version in which it matched."""
    if seen is not request:
        changed = request.store.versions.convert(request.kind, [seen.document])[0]
        request.document.clear()
        request.document.update(changed)


def is_exempt(request: Request) -> bool:
    """Configurations of admission are never subject to it: a bad one could not be removed."""
    return request.kind.group == GROUP


def selectors_match(configuration: Document, request: Request) -> bool:
    """Whether the selectors of namespace and object admit a request."""
    namespaces = LabelSelector.from_document(configuration.get("namespaceSelector") or {})
    # A cluster-wide resource other than a Namespace has no labels to select, and is let through.
    selectable = bool(request.namespace) or request.kind.group_kind == ("", "Namespace")
    if selectable and not namespaces.matches(_labels_of_namespace(request)):
        return False
    objects = LabelSelector.from_document(configuration.get("objectSelector") or {})
    if objects.selects_everything:
        return True
    return any(objects.matches(_labels(each)) for each in (_present(request), request.old) if each is not None)


def conditions_match(configuration: Document, request: Request, info: Document) -> bool:
    """Whether every match condition holds; ConditionError if one cannot be evaluated and no other is false."""
    conditions = configuration.get("matchConditions")
    if not conditions:
        return True
    values = variables(request, info)
    holds = partial(_conditions_hold, [condition["expression"] for condition in conditions], values)
    found = isolated(
        "conditions", lambda: seen(request.document, request.old, {"of": conditions}), holds, lambda: holds
    )
    if isinstance(found, str):
        raise ConditionError(found)
    return found


def _conditions_hold(expressions: list[str], values: Mapping[str, Any]) -> bool | str:
    """Whether all expressions are true; the error where none is false and one cannot be evaluated."""
    failure, budget = "", Budget(CONDITIONS_BUDGET)
    for expression in expressions:
        try:
            if budget.evaluate(expression, values) is not True:
                return False
        except (CelError, CelSyntaxError) as error:
            failure = failure or str(error)
    return failure or True


class Budget:
    """What the expressions of one policy may cost together (k8s.io/apiserver/pkg/apis/cel/config.go)."""

    def __init__(self, left: int = RUNTIME_BUDGET) -> None:
        self._left = left

    def evaluate(self, expression: str, values: Mapping[str, Any]) -> Any:
        """The value of an expression; CelError where the budget is spent."""
        meter = Meter(PER_CALL_LIMIT)
        try:
            value = compile_expression(expression, VARIABLES).evaluate(values, meter)
        finally:
            self._left -= meter.spent
        if self._left < 0:
            raise CelError(OUT_OF_BUDGET)
        return value


def variables(request: Request, info: Document, **more: Any) -> Mapping[str, Any]:
    """What an expression can see of a request."""
    return {
        "object": _present(request),
        "oldObject": request.old,
        "request": info,
        "namespaceObject": _namespace(request),
        "params": None,
        "variables": {},
        **more,
    }


def _rule_matches(rule: Document, request: Request) -> bool:
    kind, scope = request.kind, rule.get("scope") or ALL
    if scope != ALL and (scope == "Namespaced") != kind.namespaced:
        return False
    return (
        _has(rule.get("operations"), request.operation)
        and _has(rule.get("apiGroups"), kind.group)
        and _has(rule.get("apiVersions"), kind.version)
        and any(_names(resource, kind.plural, request.subresource) for resource in rule.get("resources") or ())
        and (not rule.get("resourceNames") or request.name in rule["resourceNames"])
    )


def _names(resource: str, plural: str, subresource: str) -> bool:
    named, _, part = resource.partition("/")
    return named in (ALL, plural) and part in (subresource, ALL)


def _has(values: Iterable[str] | None, wanted: str) -> bool:
    return any(value in (ALL, wanted) for value in values or ())


def _present(request: Request) -> Document | None:
    return None if request.operation == "DELETE" else request.document


def _labels(document: Document) -> Mapping[str, str]:
    return (document.get("metadata") or {}).get("labels") or {}


def _labels_of_namespace(request: Request) -> Mapping[str, str]:
    if request.kind.group_kind == ("", "Namespace"):
        return _labels(request.document)
    return _labels(_namespace(request) or {})


def _namespace(request: Request) -> Document | None:
    kind = request.store.kinds.named("v1", "Namespace")
    if kind is None or not request.namespace:
        return None
    stored = request.store.find(kind, request.namespace)
    return stored.document() if stored is not None else None
