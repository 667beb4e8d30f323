"""MutatingAdmissionPolicies: expressions in CEL that change the object of a request.

They run after the server's own steps and before mutating webhooks. A mutation is a partial object that is laid over the
object (ApplyConfiguration), or a list of JSON patch operations. Policies with reinvocationPolicy IfNeeded run once more
where a later one changed the object.

Upstream: k8s.io/apiserver/pkg/admission/plugin/policy/mutating (dispatcher.go, patch/smd.go, patch/json_patch.go). The
names of types in `Object.spec{…}` are not compared with the fields that they are put in.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from seatrial.model.apply import AtomicPart, overlay
from seatrial.model.cel import CelError, CelSyntaxError, Optional
from seatrial.model.documents import Document, decode, encode
from seatrial.model.errors import Cause, StatusError, status_error
from seatrial.model.kinds import Kind
from seatrial.model.patches import PatchRefused, apply_json_patch
from seatrial.server.admission.bound_policies import BoundPolicies
from seatrial.server.admission.matching import (
    Budget,
    ConditionError,
    conditions_match,
    is_exempt,
    take_over,
    variables,
)
from seatrial.server.admission.policies import params_of, policy_matches, with_variables
from seatrial.server.admission.webhooks import encode_object, review_request
from seatrial.store import Admission, Request, Store
from seatrial.store.deferral import isolated, seen

GROUP_VERSION = "admissionregistration.k8s.io/v1"
KEPT = ("name", "managedFields")
"""Metadata that no mutation changes."""


class MutationFailed(Exception):
    """A mutation that cannot be carried out."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """A policy with one of its bindings and one parameter object."""

    policy: Document
    names: tuple[str, str]
    params: Document | None

    @property
    def is_repeated(self) -> bool:
        return self.policy.get("reinvocationPolicy") == "IfNeeded"


class MutatingPolicyAdmission:
    """Carries out the mutations of the policies that are bound."""

    def __init__(self, inner: Admission, store: Store) -> None:
        self._inner = inner
        policies = store.kinds.named(GROUP_VERSION, "MutatingAdmissionPolicy")
        bindings = store.kinds.named(GROUP_VERSION, "MutatingAdmissionPolicyBinding")
        assert policies is not None and bindings is not None
        self._bound = BoundPolicies(policies, bindings)

    def admit(self, request: Request) -> None:
        """Run the inner steps, then the mutations."""
        self._inner.admit(request)
        if request.operation == "DELETE" or not self._bound.exist(request.store) or is_exempt(request):
            return
        called: list[tuple[Invocation, bytes]] = []
        for invocation in self._invocations(request):
            self._mutate(invocation, request)
            called.append((invocation, encode_object(request)))
        latest = encode_object(request) if called else b""
        for invocation, before in called:
            if invocation.is_repeated and before != latest:
                self._mutate(invocation, request)

    def validate(self, request: Request) -> None:
        """Run the inner steps."""
        self._inner.validate(request)

    def binding_labels(self, store: Store, node: str) -> Mapping[str, str]:
        """The labels that a pod takes over from the node it is bound to."""
        return self._inner.binding_labels(store, node)

    def inputs(self, store: Store, kind: Kind, namespace: str) -> tuple[int, ...] | None:
        """Those of the inner steps; None while a policy is bound."""
        if self._bound.exist(store):
            return None
        return self._inner.inputs(store, kind, namespace)

    def _invocations(self, request: Request) -> Iterator[Invocation]:
        """In the order of the policies, and of the bindings of each."""
        for each in sorted(self._bound.found(request.store), key=lambda pair: pair.names[0]):
            policy, bound, names = each.policy, each.binding, each.names
            if policy_matches(policy, bound, request) is None:
                continue
            try:
                yield from (Invocation(policy, names, params) for params in params_of(policy, bound, request))
            except ConditionError as error:
                _fail(policy, names, request, error)

    def _mutate(self, invocation: Invocation, request: Request) -> None:
        policy = invocation.policy
        as_seen = policy_matches(policy, {}, request) or request
        info = review_request(as_seen, "", request.kind)
        try:
            if not conditions_match(policy, as_seen, info):
                return
            for mutation in policy.get("mutations") or ():
                _replace(
                    as_seen, _mutated(policy, mutation, as_seen, variables(as_seen, info, params=invocation.params))
                )
            take_over(request, as_seen)
        except (ConditionError, CelError, CelSyntaxError, MutationFailed) as error:
            _fail(policy, invocation.names, request, error)


def _evaluated(policy: Document, expression: str, values: Mapping[str, Any]) -> Any:
    """The value of the expression of a mutation as JSON, or the error instead of one."""
    budget = Budget()
    try:
        return _plain(budget.evaluate(expression, with_variables(policy, values, budget)))
    except (CelError, CelSyntaxError) as error:
        return error


def _mutated(policy: Document, mutation: Document, request: Request, values: Mapping[str, Any]) -> Document:
    """The object after one mutation."""
    current: Document = decode(encode_object(request))
    expression = str((mutation.get("jsonPatch") or mutation.get("applyConfiguration") or {}).get("expression", ""))
    evaluated = partial(_evaluated, policy, expression, values)
    key = partial(seen, request.document, request.old, {"of": [policy, expression, values["params"]]})
    value = isolated("mutation", key, evaluated, lambda: evaluated)
    if isinstance(value, Exception):
        raise value
    if mutation.get("patchType") == "JSONPatch":
        operations = value
        try:
            changed: Document = apply_json_patch(current, operations)
        except PatchRefused as error:
            if any(operation.get("op") == "test" for operation in operations) and "test" in error.why:
                return current  # a failed test means that the patch is not meant for this object
            raise MutationFailed(f"JSON Patch: {error.why}") from error
        return changed
    if not isinstance(value, dict):
        raise MutationFailed(f"unsupported return type from ApplyConfiguration expression: {type(value).__name__}")
    try:
        return overlay(current, value, request.store.rules.schema(request.kind))
    except AtomicPart as error:
        raise MutationFailed(f"error applying patch: invalid ApplyConfiguration: {error}") from error


def _replace(request: Request, changed: Document) -> None:
    request.store.rules.apply_defaults(request.kind, changed)
    kept = {key: request.document["metadata"][key] for key in KEPT if key in request.document["metadata"]}
    request.document.clear()
    request.document.update(changed)
    request.document["metadata"].update(kept)


def _plain(value: Any) -> Any:
    """A value of an expression as JSON has it; optional fields without a value are left out."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items() if not isinstance(each, Optional)}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return decode(encode(value)) if not isinstance(value, str | int | float | bool | None) else value


def _fail(policy: Document, names: tuple[str, str], request: Request, error: Exception) -> None:
    if policy.get("failurePolicy") != "Ignore":
        raise _refusal(request, names, str(error)) from error


def _refusal(request: Request, names: tuple[str, str], why: str) -> StatusError:
    text = f"policy '{names[0]}' with binding '{names[1]}' denied request: {why}"
    details = {"name": request.name, "group": request.kind.group, "kind": request.kind.plural}
    error = status_error(403, "Invalid", text, details)
    error.causes = (Cause("", text, ""),)
    return error
