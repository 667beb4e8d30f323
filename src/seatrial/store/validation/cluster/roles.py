"""Roles and their bindings: rules name what they allow, bindings name a role and its subjects.

Upstream: pkg/apis/rbac/validation/validation.go (v1.36).
"""

from collections.abc import Iterable, Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import invalid
from seatrial.store.object_meta import segment_faults
from seatrial.store.validation.formats import subdomain
from seatrial.store.validation.rules import Check, always, among, each, given, need, present, rules, valid

GROUP = "rbac.authorization.k8s.io"
_SHOWN = {"APIGroup": "apiGroup", "Kind": "kind", "Name": "name"}
"""The names of the fields of a reference in Go, in which upstream shows it."""
_SELECTORS = "at least one clusterRoleSelector required if aggregationRule is non-nil"
_BOTH = "rules cannot apply to both regular resources and non-resource URLs"


def role_causes(document: Document) -> Iterable[Cause]:
    """Validation errors of a Role or ClusterRole."""
    return _ROLES[document["kind"]](document, "")


def binding_causes(document: Document) -> Iterable[Cause]:
    """Validation errors of a RoleBinding or ClusterRoleBinding."""
    return _BINDINGS[document["kind"]](document, "")


def binding_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of a changed binding: its role stays."""
    yield from binding_causes(document)
    if document.get("roleRef") != old.get("roleRef"):
        role = document.get("roleRef") or {}
        shown = {name: role.get(key, "") for name, key in _SHOWN.items()}
        yield invalid("roleRef", shown, "cannot change roleRef")


def _rule(*, is_namespaced: bool) -> Check:
    def check(rule: Document, path: str) -> Iterable[Cause]:
        urls, path = rule.get("nonResourceURLs"), f"{path}.nonResourceURLs"
        if urls and is_namespaced:
            yield invalid(path, urls, "namespaced rules cannot apply to non-resource URLs")
        if urls and (rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames")):
            yield invalid(path, urls, _BOTH)

    return rules(
        need("verbs", text="verbs must contain at least one value"),
        check,
        lambda rule, path: () if rule.get("nonResourceURLs") else _RESOURCES(rule, path),
    )


def _subject(*, is_namespaced: bool) -> Check:
    account = rules(
        given("name", subdomain),
        given("apiGroup", among("")),
        *(() if is_namespaced else (need("namespace"),)),
    )
    person = rules(always("apiGroup", among(GROUP)))
    kinds = {"ServiceAccount": account, "User": person, "Group": person}
    unknown = rules(always("kind", among(*kinds)))
    return rules(need("name"), lambda subject, path: kinds.get(subject.get("kind") or "", unknown)(subject, path))


_RESOURCES = rules(
    need("apiGroups", text="resource rules must supply at least one api group"),
    need("resources", text="resource rules must supply at least one resource"),
)
_AGGREGATION = present("aggregationRule", rules(need("clusterRoleSelectors", text=_SELECTORS)))
_ROLES = {
    kind: rules(each("rules", _rule(is_namespaced=kind == "Role")), _AGGREGATION) for kind in ("Role", "ClusterRole")
}
_BINDINGS = {
    kind: rules(
        always("roleRef.apiGroup", among(GROUP)),
        always("roleRef.kind", among(*kinds)),
        need("roleRef.name", valid(segment_faults)),
        each("subjects", _subject(is_namespaced=kind == "RoleBinding")),
    )
    for kind, kinds in (("RoleBinding", ("Role", "ClusterRole")), ("ClusterRoleBinding", ("ClusterRole",)))
}
