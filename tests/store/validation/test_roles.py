"""Rules of roles and bindings."""

from typing import Any

import pytest

from seatrial.store.validation.cluster import roles

GROUP = "rbac.authorization.k8s.io"


def role(**rule: Any) -> dict[str, Any]:
    return {"kind": "Role", "metadata": {"name": "r"}, "rules": [rule]}


def binding(**changes: Any) -> dict[str, Any]:
    reference = {"apiGroup": GROUP, "kind": "ClusterRole", "name": "view"}
    subject = {"kind": "User", "apiGroup": GROUP, "name": "ann"}
    return {"kind": "ClusterRoleBinding", "roleRef": reference, "subjects": [subject]} | changes


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"apiGroups": [""], "resources": ["pods"]}, "rules[0].verbs"),
        ({"resources": ["pods"], "verbs": ["get"]}, "rules[0].apiGroups"),
        ({"apiGroups": [""], "verbs": ["get"]}, "rules[0].resources"),
        ({"nonResourceURLs": ["/x"], "verbs": ["get"]}, "rules[0].nonResourceURLs"),
    ],
)
def test_a_rule_names_what_it_allows(rule: dict[str, Any], field: str) -> None:
    assert [cause.field for cause in roles.role_causes(role(**rule))] == [field]


def test_a_whole_rule_is_fine() -> None:
    assert list(roles.role_causes(role(apiGroups=[""], resources=["pods"], verbs=["get"]))) == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"roleRef": {"apiGroup": GROUP, "kind": "Role", "name": "r"}}, "roleRef.kind"),
        ({"roleRef": {"apiGroup": GROUP, "kind": "ClusterRole"}}, "roleRef.name"),
        ({"subjects": [{"kind": "Pod", "name": "x"}]}, "subjects[0].kind"),
        ({"subjects": [{"kind": "ServiceAccount", "name": "x"}]}, "subjects[0].namespace"),
        ({"subjects": [{"kind": "User", "name": "x"}]}, "subjects[0].apiGroup"),
    ],
)
def test_a_binding_names_a_role_and_subjects(changes: dict[str, Any], field: str) -> None:
    assert [cause.field for cause in roles.binding_causes(binding(**changes))] == [field]


def test_the_role_of_a_binding_stays() -> None:
    other = binding(roleRef={"apiGroup": GROUP, "kind": "ClusterRole", "name": "edit"})
    (cause,) = roles.binding_update_causes(other, binding(), "")
    assert (cause.field, cause.message.endswith("cannot change roleRef")) == ("roleRef", True)
