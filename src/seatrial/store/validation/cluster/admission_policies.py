"""Admission policies and their bindings: what must be there.

Upstream: pkg/apis/admissionregistration/validation/validation.go.
"""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import required

_EITHER = "validations or auditAnnotations must contain at least one item"


def validating_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a ValidatingAdmissionPolicy."""
    spec = document.get("spec") or {}
    yield from _constraints(spec)
    if not spec.get("validations") and not spec.get("auditAnnotations"):
        yield required("spec.validations", _EITHER)
        yield required("spec.auditAnnotations", _EITHER)
    for number, rule in enumerate(spec.get("validations") or ()):
        if not rule.get("expression"):
            yield required(f"spec.validations[{number}].expression", "expression is not specified")


def mutating_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a MutatingAdmissionPolicy."""
    spec = document.get("spec") or {}
    yield from _constraints(spec)
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
