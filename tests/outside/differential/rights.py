"""RBAC: what a user may do by roles, and what nobody may grant."""

from collections.abc import Iterator
from typing import Any

from tests.outside.differential.every_kind import NAMESPACE
from tests.outside.differential.steps import MERGE_PATCH, Step, as_user

GROUP = "rbac.authorization.k8s.io"
ROOT = f"/apis/{GROUP}/v1"
ROLES = f"{ROOT}/namespaces/{NAMESPACE}/roles"
BINDINGS = f"{ROOT}/namespaces/{NAMESPACE}/rolebindings"
MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
JANE = as_user("jane")
Document = dict[str, Any]


def steps() -> Iterator[Step]:
    """Rules and bindings that are wrong, then those that let Jane read maps."""
    for what, rule in _BAD_RULES.items():
        yield Step(f"role: {what}", "POST", ROLES, _role("bad", rule))
        yield Step(f"cluster role: {what}", "POST", f"{ROOT}/clusterroles", _role("bad", rule, kind="ClusterRole"))
    for what, changes in _BAD_BINDINGS.items():
        yield Step(f"binding: {what}", "POST", BINDINGS, _binding("bad") | changes)
        body = _binding("bad", kind="ClusterRoleBinding") | changes
        yield Step(f"cluster binding: {what}", "POST", f"{ROOT}/clusterrolebindings", body)
    yield Step("jane: list maps without a role", "GET", MAPS, None, JANE)
    yield Step("role: create", "POST", ROLES, _role("reader", _READ))
    yield Step("binding: create", "POST", BINDINGS, _binding("jane"))
    yield Step("jane: list maps", "GET", MAPS, None, JANE, repeat=True)
    yield from _janes_attempts()
    yield Step("binding: change the role", "PATCH", f"{BINDINGS}/jane", {"roleRef": {"name": "other"}}, MERGE_PATCH)
    yield Step("binding: change the subjects", "PATCH", f"{BINDINGS}/jane", {"subjects": []}, MERGE_PATCH)
    yield Step("jane: list maps without the binding", "GET", MAPS, None, JANE, pause=2)
    yield Step("role: delete", "DELETE", f"{ROLES}/reader")
    yield Step("binding: delete", "DELETE", f"{BINDINGS}/jane")
    yield from _issuer()
    yield from _accounts()


def _accounts() -> Iterator[Step]:
    """Pods that name an account; those without a token differ in nothing else."""
    root = f"/api/v1/namespaces/{NAMESPACE}"
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}

    def pod(name: str, account: str) -> Document:
        containers = [{"name": "c", "image": "i"}]
        spec = {"containers": containers, "serviceAccountName": account, "automountServiceAccountToken": False}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}

    yield Step("account: create", "POST", f"{root}/serviceaccounts", account)
    yield Step("account: a pod of it", "POST", f"{root}/pods", pod("robots", "robot"), pause=1)
    yield Step("account: a pod of none", "POST", f"{root}/pods", pod("lost", "nobody"))
    yield Step("account: delete the pod", "DELETE", f"{root}/pods/robots?gracePeriodSeconds=0")


def _issuer() -> Iterator[Step]:
    keys = "/openid/v1/jwks"
    yield Step("issuer: metadata", "GET", "/.well-known/openid-configuration")
    yield Step("issuer: metadata for jane", "GET", "/.well-known/openid-configuration", None, JANE)
    yield Step("issuer: keys", "GET", keys, None, {"Accept": "application/jwk-set+json"})
    yield Step("issuer: keys as JSON", "GET", keys)
    yield Step("issuer: new keys", "POST", keys, {})


def _janes_attempts() -> Iterator[Step]:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "janes"}}
    yield Step("jane: get a map", "GET", f"{MAPS}/missing", None, JANE)
    yield Step("jane: create a map", "POST", MAPS, body, JANE)
    yield Step("jane: delete all maps", "DELETE", MAPS, None, JANE)
    yield Step("jane: list maps elsewhere", "GET", "/api/v1/namespaces/other/configmaps", None, JANE)
    yield Step("jane: list all maps", "GET", "/api/v1/configmaps", None, JANE)
    yield Step("jane: list secrets", "GET", f"/api/v1/namespaces/{NAMESPACE}/secrets", None, JANE)
    yield Step("jane: a subresource", "GET", f"/api/v1/namespaces/{NAMESPACE}/pods/x/status", None, JANE)
    yield Step("jane: a path", "GET", "/metrics", None, JANE)
    yield Step("jane: grant herself more", "POST", ROLES, _role("more", _READ | {"verbs": ["*"]}), JANE)
    yield Step("jane: bind herself", "POST", BINDINGS, _binding("more"), JANE)
    for verb, resource in (("list", "configmaps"), ("delete", "configmaps"), ("list", "secrets")):
        asked = {"namespace": NAMESPACE, "verb": verb, "resource": resource}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": asked},
        }
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        yield Step(f"jane: may she {verb} {resource}", "POST", path, review, JANE)
    for name in ("Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-a"):
        yield Step(f"impersonate with {name} alone", "GET", MAPS, None, {name: "x"})


_READ: Document = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}
_BAD_RULES: dict[str, Document] = {
    "no verbs": {**_READ, "verbs": []},
    "no groups": {"resources": ["pods"], "verbs": ["get"]},
    "no resources": {"apiGroups": [""], "verbs": ["get"]},
    "nothing": {},
    "paths and resources": {**_READ, "nonResourceURLs": ["/x"]},
    "paths": {"nonResourceURLs": ["/x"], "verbs": []},
}
_BAD_BINDINGS: dict[str, Document] = {
    "no role": {"roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": ""}},
    "another group": {"roleRef": {"apiGroup": "x", "kind": "ClusterRole", "name": "view"}},
    "another kind": {"roleRef": {"apiGroup": GROUP, "kind": "Pod", "name": "view"}},
    "a subject of another kind": {"subjects": [{"kind": "Pod", "name": "x"}]},
    "a subject without a name": {"subjects": [{"kind": "User", "apiGroup": GROUP, "name": ""}]},
    "a user of another group": {"subjects": [{"kind": "User", "apiGroup": "x", "name": "jane"}]},
    "an account of a group": {
        "subjects": [{"kind": "ServiceAccount", "apiGroup": GROUP, "name": "a", "namespace": "b"}]
    },
    "an account without a namespace": {"subjects": [{"kind": "ServiceAccount", "name": "a"}]},
    "an account with a bad name": {"subjects": [{"kind": "ServiceAccount", "name": "A_b", "namespace": "b"}]},
}


def _role(name: str, *rules: Document, kind: str = "Role") -> Document:
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name}, "rules": list(rules)}


def _binding(name: str, kind: str = "RoleBinding") -> Document:
    role = {"apiGroup": GROUP, "kind": "Role" if kind == "RoleBinding" else "ClusterRole", "name": "reader"}
    subject = {"kind": "User", "apiGroup": GROUP, "name": "jane"}
    own = {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name}}
    return own | {"roleRef": role, "subjects": [subject]}
