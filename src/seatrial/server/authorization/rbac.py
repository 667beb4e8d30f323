"""RBAC: the rules of the roles that are bound to a user decide what the user may do.

Rules are looked up once per user and namespace, and decisions about collections once per user and collection. Both are
kept until a role or binding changes.

Upstream: plugin/pkg/auth/authorizer/rbac/rbac.go and pkg/registry/rbac/validation/rule.go.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.server.authorization.attributes import Attributes
from seatrial.server.authorization.authorizer import Decision, ResolvedRules
from seatrial.server.authorization.rules import PolicyRule
from seatrial.store import Change, Memo, Store, Stored, User
from seatrial.store.field_errors import quoted

GROUP = "rbac.authorization.k8s.io"
USERS_KEPT = 4096
"""Users and namespaces whose rules are kept."""
DECISIONS_KEPT = 4096
Place = tuple[str, tuple[str, ...], str]
"""Name and groups of a user, and a namespace."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A rule of a user, and the binding that gives it."""

    source: str
    rule: PolicyRule


@dataclass(frozen=True, slots=True)
class Grants:
    """All rules of a user in one namespace; `errors` name the roles that could not be found."""

    granted: tuple[Grant, ...]
    errors: tuple[str, ...]


class RbacAuthorizer:
    """Evaluates the Roles, ClusterRoles and bindings of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._role, self._cluster_role = _kind(store, "Role"), _kind(store, "ClusterRole")
        self._binding, self._cluster_binding = _kind(store, "RoleBinding"), _kind(store, "ClusterRoleBinding")
        self._grants: Memo[Place, Grants] = Memo(USERS_KEPT)
        self._decisions: Memo[tuple[object, ...], Decision] = Memo(DECISIONS_KEPT)
        store.subscribe(self._forget, [self._role, self._cluster_role, self._binding, self._cluster_binding])

    def authorize(self, action: Attributes) -> Decision:
        """Allowed for system:masters, and where a rule of the user says so."""
        if action.user.is_privileged:
            return Decision(True)
        if action.name or not action.resource_request:
            return self._decide(action)
        # Most requests are for a collection: a create names no object.
        key = (*_place(action.user, action.namespace), action.verb, action.group, action.resource, action.subresource)
        known = self._decisions.get(key)
        if known is None:
            known = self._decisions[key] = self._decide(action)
        return known

    def _decide(self, action: Attributes) -> Decision:
        grants = self._grants_of(action.user, action.namespace)
        for grant in grants.granted:
            if grant.rule.allows(action):
                return Decision(True, f"RBAC: allowed by {grant.source}")
        return Decision(False, f"RBAC: {aggregate(grants.errors)}" if grants.errors else "")

    def rules_for(self, user: User, namespace: str) -> ResolvedRules:
        """The rules that a user has in a namespace, cluster-wide ones first."""
        grants = self._grants_of(user, namespace)
        return ResolvedRules(tuple(grant.rule for grant in grants.granted), grants.errors)

    def referenced_rules(self, reference: Document, namespace: str) -> tuple[PolicyRule, ...]:
        """The rules of the role that a binding refers to; NotFound where there is no such role."""
        role, kind = reference.get("name", ""), self._role
        if reference.get("kind") == "ClusterRole":
            kind, namespace = self._cluster_role, ""
        stored = self._store.find(kind, role, namespace)
        if stored is None:
            resource = kind.kind.lower()
            raise NotFound(f"{resource}.{GROUP} {quoted(role)} not found", group=GROUP, kind=resource, name=role)
        return tuple(PolicyRule.of(rule) for rule in stored.document().get("rules") or ())

    def _grants_of(self, user: User, namespace: str) -> Grants:
        key = _place(user, namespace)
        known = self._grants.get(key)
        if known is None:
            known = self._grants[key] = self._look_up(user, namespace)
        return known

    def _look_up(self, user: User, namespace: str) -> Grants:
        granted: list[Grant] = []
        errors: list[str] = []
        for binding in self._bindings(namespace):
            document = binding.document()
            subject = _subject_of(user, document, binding.namespace)
            if subject is None:
                continue
            reference = document["roleRef"]
            try:
                rules = self.referenced_rules(reference, binding.namespace)
            except NotFound as error:
                errors.append(error.message)
                continue
            source = _described(binding, reference, subject)
            granted.extend(Grant(source, rule) for rule in rules)
        return Grants(tuple(granted), tuple(errors))

    def _bindings(self, namespace: str) -> Iterator[Stored]:
        yield from self._store.list(self._cluster_binding)
        if namespace:
            yield from self._store.list(self._binding, namespace)

    def _forget(self, change: Change) -> None:
        self._grants.clear()
        self._decisions.clear()


def _place(user: User, namespace: str) -> Place:
    return user.name, user.groups, namespace


def aggregate(errors: tuple[str, ...]) -> str:
    """Several errors as one text, each once, as Go's aggregate prints them."""
    texts = list(dict.fromkeys(errors))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _kind(store: Store, name: str) -> Kind:
    return store.kinds.served(f"{GROUP}/v1", name)


def _subject_of(user: User, binding: Document, namespace: str) -> Document | None:
    """The first subject of a binding that is the user; None if the binding is not about the user."""
    for subject in binding.get("subjects") or ():
        name = subject.get("name", "")
        match subject.get("kind"):
            case "User":
                applies = user.name == name
            case "Group":
                applies = name in user.groups
            case "ServiceAccount":
                own = subject.get("namespace") or namespace
                applies = bool(own) and user.name == f"system:serviceaccount:{own}:{name}"
            case _:
                applies = False
        if applies:
            found: Document = subject
            return found
    return None


def _described(binding: Stored, reference: Document, subject: Document) -> str:
    name = f"{binding.name}/{binding.namespace}" if binding.namespace else binding.name
    who = subject.get("name", "")
    if subject["kind"] == "ServiceAccount":
        who = f"{who}/{subject.get('namespace') or binding.namespace}"
    role = f"{reference.get('kind')} {quoted(reference.get('name', ''))}"
    return f"{binding.kind.kind} {quoted(name)} of {role} to {subject['kind']} {quoted(who)}"
