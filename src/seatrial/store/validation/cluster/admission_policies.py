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
from seatrial.store.validation.rules import each, given, need, need_set, of_spec, rules

VARIABLES = frozenset(("object", "oldObject", "request", "params", "namespaceObject", "variables", "authorizer"))
"""What the expressions of a policy can name."""
_EITHER = "validations or auditAnnotations must contain at least one item"


def _any_validation(spec: Document, path: str) -> Iterator[Cause]:
    if not spec.get("validations") and not spec.get("auditAnnotations"):
        yield required("spec.validations", _EITHER)
        yield required("spec.auditAnnotations", _EITHER)


def _compiles(text: str, path: str) -> Iterator[Cause]:
    try:
        if text.strip():
            cel.compile_expression(text, VARIABLES)
    except CelSyntaxError as error:
        yield invalid(path, text, f"compilation failed: {error}")


_SHARED = (
    need_set("matchConstraints", rules(need("resourceRules"))),
    each("variables", rules(given("expression", _compiles))),
    given("matchConditions", lambda conditions, path: condition_causes(conditions, path, VARIABLES)),
)
_VALIDATION = rules(
    need("expression", _compiles, text="expression is not specified"), given("messageExpression", _compiles)
)
validating_causes = of_spec(rules(*_SHARED, _any_validation, each("validations", _VALIDATION)))
"""Validation errors of a ValidatingAdmissionPolicy."""
mutating_causes = of_spec(
    rules(*_SHARED, need("mutations", text="mutations must contain at least one item"), need("reinvocationPolicy"))
)
"""Validation errors of a MutatingAdmissionPolicy."""
mutating_binding_causes = of_spec(rules(need("policyName")))
"""Validation errors of a MutatingAdmissionPolicyBinding."""
validating_binding_causes = of_spec(
    rules(need("policyName"), need("validationActions", text="at least one validation action is required"))
)
"""Validation errors of a ValidatingAdmissionPolicyBinding."""
