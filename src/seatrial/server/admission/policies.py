"""ValidatingAdmissionPolicies: expressions in CEL that refuse a request, warn of it or let it pass.

A policy acts where a binding names it. The binding may narrow what the policy matches and names the parameters.

Upstream: k8s.io/apiserver/pkg/admission/plugin/policy/validating (dispatcher.go, validator.go).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from seatrial.model.cel import CelError, CelSyntaxError
from seatrial.model.documents import Document
from seatrial.model.errors import Cause, StatusError, status_error
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import LabelSelector
from seatrial.server.admission.bound_policies import BoundPolicies, BoundPolicy
from seatrial.server.admission.matching import (
    Budget,
    ConditionError,
    conditions_match,
    is_exempt,
    matched,
    selectors_match,
    variables,
)
from seatrial.server.admission.webhooks import review_request
from seatrial.store import Admission, Request, Store
from seatrial.store.deferral import isolated, seen

CODES = {"Unauthorized": 401, "Forbidden": 403, "Invalid": 422, "RequestEntityTooLarge": 413}
DEFAULT_REASON = "Invalid"


class PolicyAdmission:
    """Evaluates the policies that are bound."""

    def __init__(self, inner: Admission, store: Store) -> None:
        self._inner = inner
        self._bound = BoundPolicies(
            _kind(store, "ValidatingAdmissionPolicy"), _kind(store, "ValidatingAdmissionPolicyBinding")
        )

    def admit(self, request: Request) -> None:
        """Run the inner steps."""
        self._inner.admit(request)

    def validate(self, request: Request) -> None:
        """Evaluate the policies, then run the inner steps."""
        if self._bound.exist(request.store) and not is_exempt(request):
            for each in self._bound.found(request.store):
                self._apply(each, request)
        self._inner.validate(request)

    def binding_labels(self, store: Store, node: str) -> Mapping[str, str]:
        """The labels that a pod takes over from the node it is bound to."""
        return self._inner.binding_labels(store, node)

    def inputs(self, store: Store, kind: Kind, namespace: str) -> tuple[int, ...] | None:
        """Those of the inner steps; None while a policy is bound."""
        if self._bound.exist(store):
            return None
        return self._inner.inputs(store, kind, namespace)

    def _apply(self, found: BoundPolicy, request: Request) -> None:
        policy, bound = found.policy, found.binding
        as_seen = policy_matches(policy, bound, request)
        if as_seen is None:
            return
        info = review_request(as_seen, "", request.kind)
        try:
            if not conditions_match(policy, as_seen, info):
                return
            params = list(params_of(policy, bound, as_seen))
        except ConditionError as error:
            self._report(found, request, _Verdict(error=str(error)))
            return
        values = variables(as_seen, info)
        judged = partial(_judge, policy, values, params, denies="Deny" in (bound.get("validationActions") or ()))
        key = partial(seen, as_seen.document, as_seen.old, {"of": [policy, *params]})
        self._report(found, request, isolated("policy", key, judged, lambda: judged))

    def _report(self, found: BoundPolicy, request: Request, verdict: "_Verdict") -> None:
        """Warn of what failed, or refuse it, as the binding says."""
        names, actions = found.names, found.binding.get("validationActions") or ()
        for message, reason in verdict.failures:
            if "Warn" in actions:
                what = f"ValidatingAdmissionPolicy '{names[0]}' with binding '{names[1]}'"
                request.warn(f"Validation failed for {what}: {message}")
            if "Deny" in actions:
                raise _refusal(request, names, message, reason)
        if verdict.error and found.policy.get("failurePolicy") != "Ignore":
            raise _refusal(request, names, verdict.error, DEFAULT_REASON)


@dataclass(slots=True)
class _Verdict:
    """What the validations of a policy say: messages and reasons of those that failed, or why one has no value."""

    failures: list[tuple[str, str]] = field(default_factory=list)
    error: str = ""


def _judge(policy: Document, values: Mapping[str, Any], params: Sequence[Document | None], *, denies: bool) -> _Verdict:
    """Evaluate the validations with each parameter object; the first failure ends it where failures deny."""
    verdict = _Verdict()
    for each in params:
        budget = Budget()
        try:
            known = with_variables(policy, {**values, "params": each}, budget)
            for rule in policy.get("validations") or ():
                if budget.evaluate(rule["expression"], known) is not True:
                    reason = rule.get("reason") or DEFAULT_REASON
                    verdict.failures.append((_message(rule, known, budget), reason))
                    if denies:
                        return verdict
        except (CelError, CelSyntaxError) as error:
            verdict.error = str(error)
            return verdict
    return verdict


def policy_matches(policy: Document, bound: Document, request: Request) -> Request | None:
    """The request in the version that a policy names; None where the policy or its binding does not name it."""
    seen = _matched(policy.get("matchConstraints") or {}, request)
    if seen is None or bound.get("matchResources") is None:
        return seen
    return seen if _matched(bound["matchResources"], request, narrows=True) is not None else None


def _matched(constraints: Document, request: Request, *, narrows: bool = False) -> Request | None:
    rules, policy = constraints.get("resourceRules"), str(constraints.get("matchPolicy") or "Equivalent")
    seen = matched(rules or (), policy, request) if rules or not narrows else request
    if seen is None or matched(constraints.get("excludeResourceRules") or (), policy, request) is not None:
        return None
    return seen if selectors_match(constraints, seen) else None


def params_of(policy: Document, bound: Document, request: Request) -> Iterator[Document | None]:
    """The parameter objects to evaluate with; one None where the policy takes none."""
    wanted, reference = policy.get("paramKind"), bound.get("paramRef")
    if wanted is None or reference is None:
        yield None
        return
    kind = request.store.kinds.named(wanted.get("apiVersion", ""), wanted.get("kind", ""))
    if kind is None:
        raise ConditionError(f"failed to find resource referenced by paramKind: {wanted.get('kind', '')}")
    namespace = (reference.get("namespace") or request.namespace) if kind.namespaced else ""
    if reference.get("name"):
        stored = request.store.find(kind, reference["name"], namespace)
        found = [stored] if stored is not None else []
    else:
        selector = LabelSelector.from_document(reference.get("selector") or {})
        found = list(request.store.list(kind, namespace, selector))
    if not found and reference.get("parameterNotFoundAction") != "Allow":
        raise ConditionError("no params found for policy binding with `Deny` parameterNotFoundAction")
    yield from (stored.document() for stored in found)


def with_variables(policy: Document, values: Mapping[str, Any], budget: Budget) -> Mapping[str, Any]:
    """The values that an expression can see, with those of the policy's variables."""
    known: dict[str, Any] = {}
    values = {**values, "variables": known}
    for variable in policy.get("variables") or ():
        known[variable["name"]] = budget.evaluate(variable["expression"], values)
    return values


def _message(rule: Document, values: Mapping[str, Any], budget: Budget) -> str:
    """The text of a failed validation: its message expression, its message, or the expression itself."""
    expression = rule.get("messageExpression")
    if expression:
        try:
            text = budget.evaluate(expression, values)
        except (CelError, CelSyntaxError):
            text = None
        if isinstance(text, str) and text.strip() and "\n" not in text:
            return text.strip()
    return str(rule.get("message") or f"failed expression: {rule['expression'].strip()}").strip()


def _refusal(request: Request, names: tuple[str, str], message: str, reason: str) -> StatusError:
    kind, (policy, binding) = request.kind, names
    text = f"ValidatingAdmissionPolicy '{policy}' with binding '{binding}' denied request: {message}"
    what = f'{kind.resource} "{request.name}" is forbidden: {text}'
    details = {"name": request.name, "group": kind.group, "kind": kind.plural}
    error = status_error(CODES.get(reason, 422), reason, what, details)
    error.causes = (Cause("", text, ""),)
    return error


def _kind(store: Store, name: str) -> Kind:
    return store.kinds.served("admissionregistration.k8s.io/v1", name)
