"""Keeps users from granting rights that they do not have.

A role may hold only rules that its writer has, a binding may refer only to a role whose rules its writer has, unless
the writer has the verb `escalate` on the role or `bind` on the role that is referred to.

Upstream: pkg/registry/rbac/escalation_check.go, pkg/registry/rbac/*/policybased/storage.go and
pkg/registry/rbac/validation/rule.go (ConfirmNoEscalation).
"""

from collections.abc import Iterable, Mapping

from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.server.authorization.attributes import Attributes, forbidden
from seatrial.server.authorization.rbac import GROUP, RbacAuthorizer, aggregate
from seatrial.server.authorization.rules import FULL_AUTHORITY, PolicyRule, compacted, go_strings, uncovered
from seatrial.store import Admission, Request, Store, User, not_found
from seatrial.store.field_errors import quoted

ROLES = frozenset(("Role", "ClusterRole"))
BINDINGS = frozenset(("RoleBinding", "ClusterRoleBinding"))
COLLECTED = ("ownerReferences", "finalizers", "selfLink", "managedFields", "resourceVersion")
"""Metadata that the garbage collector may change in a role whose rules it does not have."""


class EscalationCheck:
    """Admission that refuses an escalation once the other mutating steps are done."""

    def __init__(self, inner: Admission, authorizer: RbacAuthorizer) -> None:
        self._inner = inner
        self._authorizer = authorizer

    def admit(self, request: Request) -> None:
        """Run the inner steps, then refuse a role or binding that gives more than its writer has."""
        self._inner.admit(request)
        if request.kind.group != GROUP or request.operation == "DELETE":
            return
        user = request.user
        if user is None or user.is_privileged or _changes_only_metadata(request):
            return
        if request.kind.kind in ROLES:
            self._check_role(request, user)
        elif request.kind.kind in BINDINGS:
            self._check_binding(request, user)

    def validate(self, request: Request) -> None:
        """Run the inner steps."""
        self._inner.validate(request)

    def binding_labels(self, store: Store, node: str) -> Mapping[str, str]:
        """The labels that a pod takes over from the node it is bound to."""
        return self._inner.binding_labels(store, node)

    def inputs(self, store: Store, kind: Kind, namespace: str) -> tuple[int, ...] | None:
        """The inputs of the inner steps."""
        return self._inner.inputs(store, kind, namespace)

    def _check_role(self, request: Request, user: User) -> None:
        kind = request.kind
        # A POST names no object in its path, so that a rule with resourceNames does not cover it.
        in_path = request.name if request.operation == "UPDATE" else ""
        escalate = Attributes(user, "escalate", GROUP, "*", kind.plural, namespace=request.namespace, name=in_path)
        if self._authorizer.authorize(escalate).allowed:
            return
        name = request.document["metadata"].get("name", "")
        rules = [PolicyRule.of(rule) for rule in request.document.get("rules") or ()]
        if why := self._missing(request, user, rules):
            raise forbidden(GROUP, kind.plural, name, why)
        aggregates = _aggregates(request.document) or (request.old is not None and _aggregates(request.old))
        if aggregates and self._missing(request, user, FULL_AUTHORITY):
            why = "must have cluster-admin privileges to use the aggregationRule"
            raise forbidden(GROUP, kind.plural, name, why)

    def _check_binding(self, request: Request, user: User) -> None:
        reference = request.document.get("roleRef") or {}
        resource = {"Role": "roles", "ClusterRole": "clusterroles"}.get(reference.get("kind", ""), "")
        named = reference.get("name", "")
        bind = Attributes(
            user, "bind", reference.get("apiGroup", ""), "*", resource, namespace=request.namespace, name=named
        )
        if resource and self._authorizer.authorize(bind).allowed:
            return
        try:
            rules = self._authorizer.referenced_rules(reference, request.namespace)
        except NotFound:
            raise not_found(request.kind, named) from None
        if why := self._missing(request, user, rules):
            raise forbidden(GROUP, request.kind.plural, request.document["metadata"].get("name", ""), why)

    def _missing(self, request: Request, user: User, wanted: Iterable[PolicyRule]) -> str:
        """The text that lists the wanted rules which the user does not have; empty if the user has all."""
        owned = self._authorizer.rules_for(user, request.namespace)
        missing = uncovered(owned.rules, wanted)
        if not missing:
            return ""
        lines = "\n".join(sorted({str(rule) for rule in compacted(missing)}))
        who = f"user {quoted(user.name)} (groups={go_strings(user.groups)})"
        text = f"{who} is attempting to grant RBAC permissions not currently held:\n{lines}"
        if not owned.errors:
            return text
        # Roles are read from storage here, which names the resource of the request in its errors.
        errors = tuple(f"{request.kind.plural}.{error.partition('.')[2]}" for error in owned.errors)
        return f"{text}; resolution errors: [{aggregate(errors)}]"


def _aggregates(role: Document) -> bool:
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


def _changes_only_metadata(request: Request) -> bool:
    """Whether an update changes only what the garbage collector needs to change."""
    if request.old is None:
        return False
    return _without_collected(request.document) == _without_collected(request.old)


def _without_collected(document: Document) -> Document:
    metadata = {key: value for key, value in document["metadata"].items() if key not in COLLECTED}
    return {**document, "metadata": metadata}
