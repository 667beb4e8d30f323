"""Roles and their bindings: rules name what they allow, bindings name a role and its subjects.

Upstream: pkg/apis/rbac/validation/validation.go (v1.36).
"""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import invalid, required, unsupported
from seatrial.store.object_meta import segment_faults, subdomain_faults

GROUP = "rbac.authorization.k8s.io"
_SHOWN = {"APIGroup": "apiGroup", "Kind": "kind", "Name": "name"}
"""The names of the fields of a reference in Go, in which upstream shows it."""
_SELECTORS = "at least one clusterRoleSelector required if aggregationRule is non-nil"
_BOTH = "rules cannot apply to both regular resources and non-resource URLs"


def role_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a Role or ClusterRole."""
    is_namespaced = document["kind"] == "Role"
    for index, rule in enumerate(document.get("rules") or ()):
        yield from _rule_causes(rule, f"rules[{index}]", is_namespaced)
    aggregation = document.get("aggregationRule")
    if aggregation is not None and not aggregation.get("clusterRoleSelectors"):
        yield required("aggregationRule.clusterRoleSelectors", _SELECTORS)


def binding_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a RoleBinding or ClusterRoleBinding."""
    is_namespaced, role = document["kind"] == "RoleBinding", document.get("roleRef") or {}
    if role.get("apiGroup", "") != GROUP:
        yield unsupported("roleRef.apiGroup", role.get("apiGroup", ""), (GROUP,))
    kinds = ("Role", "ClusterRole") if is_namespaced else ("ClusterRole",)
    if role.get("kind") not in kinds:
        yield unsupported("roleRef.kind", role.get("kind", ""), kinds)
    name = role.get("name", "")
    if not name:
        yield required("roleRef.name")
    yield from (invalid("roleRef.name", name, fault) for fault in segment_faults(name))
    for index, subject in enumerate(document.get("subjects") or ()):
        yield from _subject_causes(subject, f"subjects[{index}]", is_namespaced)


def binding_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of a changed binding: its role stays."""
    yield from binding_causes(document)
    if document.get("roleRef") != old.get("roleRef"):
        role = document.get("roleRef") or {}
        shown = {name: role.get(key, "") for name, key in _SHOWN.items()}
        yield invalid("roleRef", shown, "cannot change roleRef")


def _rule_causes(rule: Document, path: str, is_namespaced: bool) -> Iterator[Cause]:
    if not rule.get("verbs"):
        yield required(f"{path}.verbs", "verbs must contain at least one value")
    urls = rule.get("nonResourceURLs")
    if urls:
        if is_namespaced:
            yield invalid(f"{path}.nonResourceURLs", urls, "namespaced rules cannot apply to non-resource URLs")
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            yield invalid(f"{path}.nonResourceURLs", urls, _BOTH)
        return
    if not rule.get("apiGroups"):
        yield required(f"{path}.apiGroups", "resource rules must supply at least one api group")
    if not rule.get("resources"):
        yield required(f"{path}.resources", "resource rules must supply at least one resource")


def _subject_causes(subject: Document, path: str, is_namespaced: bool) -> Iterator[Cause]:
    kind, name, group = (subject.get(key) or "" for key in ("kind", "name", "apiGroup"))
    if not name:
        yield required(f"{path}.name")
    if kind == "ServiceAccount":
        if name:
            yield from (invalid(f"{path}.name", name, fault) for fault in subdomain_faults(name))
        if group:
            yield unsupported(f"{path}.apiGroup", group, ("",))
        if not is_namespaced and not subject.get("namespace"):
            yield required(f"{path}.namespace")
    elif kind in ("User", "Group"):
        if group != GROUP:
            yield unsupported(f"{path}.apiGroup", group, (GROUP,))
    else:
        yield unsupported(f"{path}.kind", kind, ("ServiceAccount", "User", "Group"))
