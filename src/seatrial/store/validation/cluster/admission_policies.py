"""Admission policies and their bindings: what must be there.

Upstream: pkg/apis/admissionregistration/validation/validation.go.
"""

from collections.abc import Iterator

from seatrial.model import cel
from seatrial.model.cel import CelSyntaxError
from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import invalid, required
from seatrial.store.validation.cluster.webhook_configurations import condition_causes

VARIABLES = frozenset(("object", "oldObject", "request", "params", "namespaceObject", "variables", "authorizer"))
"""What the expressions of a policy can name."""
_EITHER = "validations or auditAnnotations must contain at least one item"


def validating_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a ValidatingAdmissionPolicy."""
    spec = document.get("spec") or {}
    yield from _constraints(spec)
    yield from _shared(spec)
    if not spec.get("validations") and not spec.get("auditAnnotations"):
        yield required("spec.validations", _EITHER)
        yield required("spec.auditAnnotations", _EITHER)
    for number, rule in enumerate(spec.get("validations") or ()):
        path = f"spec.validations[{number}]"
        if not rule.get("expression"):
            yield required(f"{path}.expression", "expression is not specified")
        yield from _expressions(rule, path, "expression", "messageExpression")


def _expressions(rule: Document, path: str, *names: str) -> Iterator[Cause]:
    """Errors of expressions that cannot be compiled."""
    for name in names:
        text = rule.get(name) or ""
        try:
            if text.strip():
                cel.compile_expression(text, VARIABLES)
        except CelSyntaxError as error:
            yield invalid(f"{path}.{name}", text, f"compilation failed: {error}")


def _shared(spec: Document) -> Iterator[Cause]:
    """Errors of the expressions that both kinds of policies have."""
    for number, entry in enumerate(spec.get("variables") or ()):
        yield from _expressions(entry, f"spec.variables[{number}]", "expression")
    yield from condition_causes(spec.get("matchConditions") or [], "spec.matchConditions", VARIABLES)


def mutating_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a MutatingAdmissionPolicy."""
    spec = document.get("spec") or {}
    yield from _constraints(spec)
    yield from _shared(spec)
    if not spec.get("mutations"):
        yield required("spec.mutations", "mutations must contain at least one item")
    if not spec.get("reinvocationPolicy"):
        yield required("spec.reinvocationPolicy")


def binding_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a binding."""
    spec = document.get("spec") or {}
    if not spec.get("policyName"):
        yield required("spec.policyName")
    if document["kind"] == "ValidatingAdmissionPolicyBinding" and not spec.get("validationActions"):
        yield required("spec.validationActions", "at least one validation action is required")


def _constraints(spec: Document) -> Iterator[Cause]:
    constraints = spec.get("matchConstraints")
    if constraints is None:
        yield required("spec.matchConstraints")
    elif not constraints.get("resourceRules"):
        yield required("spec.matchConstraints.resourceRules")
