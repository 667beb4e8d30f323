"""Client-side apply followed by server-side apply, Services and Secrets that are replaced, and RBAC and reviews."""

import copy
import json
from collections.abc import Iterator
from typing import Any

from tests.outside.differential.every_kind import NAMESPACE, collection
from tests.outside.differential.steps import APPLY_PATCH, MERGE_PATCH, Step, as_user

CORE = f"/api/v1/namespaces/{NAMESPACE}"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

__all__ = ["collection", "steps"]


def steps() -> Iterator[Step]:
    """All of them."""
    for plural, document in _objects():
        yield from _migration(plural, document)
    yield from _services()
    yield from _secrets()
    yield from _rights()
    yield from _reviews()
    yield from _paths()


def _objects() -> Iterator[tuple[str, dict[str, Any]]]:
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"},
    }
    head = {"apiVersion": "v1", "metadata": {"name": "migrated"}}
    yield f"{CORE}/configmaps", {**head, "kind": "ConfigMap", "data": {"x": "1"}}
    yield f"{CORE}/services", {**head, "kind": "Service", "spec": {"ports": [{"port": 80}]}}
    yield (
        f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs",
        {**head, "apiVersion": "batch/v1", "kind": "Job", "spec": {"template": template}},
    )


def _migration(path: str, document: dict[str, Any]) -> Iterator[Step]:
    kind, name = document["kind"], document["metadata"]["name"]
    applied = copy.deepcopy(document)
    applied["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(document, separators=(",", ":")) + "\n"}
    manager = "?fieldManager=kubectl-client-side-apply&fieldValidation=Strict"
    yield Step(f"{kind}: client-side apply", "POST", path + manager, applied)
    for attempt in ("first", "second"):
        query = "?fieldManager=kubectl&fieldValidation=Strict"
        yield Step(f"{kind}: {attempt} server-side apply", "PATCH", f"{path}/{name}{query}", document, APPLY_PATCH)
    yield Step(f"{kind}: after the migration", "GET", f"{path}/{name}")
    yield Step(f"{kind}: delete the migrated one", "DELETE", f"{path}/{name}?propagationPolicy=Background")


def _services() -> Iterator[Step]:
    path = f"{CORE}/services"

    def service(name: str, **spec: Any) -> dict[str, Any]:
        body = {"ports": [{"port": 80}], **spec}
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": body}

    yield Step("service with node ports", "POST", path, service("np", type="NodePort"))
    yield Step("service replaced without address", "PUT", f"{path}/np", service("np", type="NodePort"))
    yield Step("service with another address", "PUT", f"{path}/np", service("np", clusterIP="10.96.9.9"))
    low = [{"port": 80, "nodePort": 80}]
    yield Step("node port out of range", "POST", path, service("low", type="NodePort", ports=low))
    fixed = [{"port": 80, "nodePort": 30999}]
    yield Step("node port that is asked for", "POST", path, service("fixed", type="NodePort", ports=fixed))
    yield Step("node port that is taken", "POST", path, service("taken", type="NodePort", ports=fixed))
    yield Step("headless service", "POST", path, service("headless", clusterIP="None"))
    yield Step("external name", "POST", path, service("external", type="ExternalName", externalName="example.com"))
    yield Step("service without ports", "POST", path, service("bare", ports=[]))
    yield Step("service status", "GET", f"{path}/np/status")
    for name in ("np", "fixed", "headless", "external"):
        yield Step(f"delete service {name}", "DELETE", f"{path}/{name}")


def _secrets() -> Iterator[Step]:
    path = f"{CORE}/secrets"
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "texts"}, "data": {"a": "eA=="}}
    yield Step("secret with texts", "POST", path, secret | {"stringData": {"a": "hello", "b": "x"}})
    yield Step("secret patched with texts", "PATCH", f"{path}/texts", {"stringData": {"c": "y"}}, MERGE_PATCH)
    yield Step("secret of another type", "PATCH", f"{path}/texts", {"type": "other"}, MERGE_PATCH)
    yield Step("immutable secret", "PATCH", f"{path}/texts", {"immutable": True}, MERGE_PATCH)
    yield Step("change of an immutable secret", "PATCH", f"{path}/texts", {"stringData": {"c": "z"}}, MERGE_PATCH)
    yield Step("delete secret", "DELETE", f"{path}/texts")


def _role(name: str, *rules: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": list(rules)}


def _binding(name: str, role: str, user: str) -> dict[str, Any]:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "User", "apiGroup": GROUP, "name": user}],
    }


def _rights() -> Iterator[Step]:
    pods = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}
    roles = {"apiGroups": [GROUP], "resources": ["clusterroles", "clusterrolebindings"], "verbs": ["create", "update"]}
    ann = as_user("ann")
    yield Step("role of ann", "POST", f"{RBAC}/clusterroles", _role("ann", pods, roles))
    yield Step("binding of ann", "POST", f"{RBAC}/clusterrolebindings", _binding("ann", "ann", "ann"))
    yield Step("ann lists pods", "GET", f"{CORE}/pods?fieldSelector=metadata.name%3Dnone", None, ann, repeat=True)
    yield Step("ann watches pods", "GET", f"{CORE}/pods?watch=true&timeoutSeconds=1", None, ann)
    yield Step("ann deletes a pod", "DELETE", f"{CORE}/pods/none", None, ann)
    yield Step("ann gets a log", "GET", f"{CORE}/pods/none/log", None, ann)
    yield Step("ann reads a path", "GET", "/metrics", None, ann)
    yield Step("ann asks for nothing known", "GET", "/apis/none.example.com/v1/things", None, ann)
    more = {"apiGroups": ["", "apps"], "resources": ["pods", "secrets"], "verbs": ["get", "delete"]}
    yield Step("ann grants more than she has", "POST", f"{RBAC}/clusterroles", _role("more", more), ann)
    yield Step("ann grants what she has", "POST", f"{RBAC}/clusterroles", _role("less", pods), ann)
    strong = _binding("strong", "cluster-admin", "ann")
    yield Step("ann binds a strong role", "POST", f"{RBAC}/clusterrolebindings", strong, ann)
    missing = _binding("missing", "none", "ann")
    yield Step("ann binds a missing role", "POST", f"{RBAC}/clusterrolebindings", missing, ann)
    yield Step("ann acts as bob", "GET", f"{CORE}/pods", None, ann | {"Impersonate-Group": "crew"})
    yield Step("a group without a user", "GET", f"{CORE}/pods", None, {"Impersonate-Group": "crew"})
    dangling = _binding("dangling", "none", "carl")
    yield Step("a dangling binding", "POST", f"{RBAC}/clusterrolebindings", dangling)
    yield Step("carl has none", "GET", f"{CORE}/secrets", None, as_user("carl"))
    for name in ("ann", "dangling"):
        yield Step(f"delete binding {name}", "DELETE", f"{RBAC}/clusterrolebindings/{name}")
    for name in ("ann", "less"):
        yield Step(f"delete role {name}", "DELETE", f"{RBAC}/clusterroles/{name}")


def _reviews() -> Iterator[Step]:
    def review(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
        return {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}

    asked = {"verb": "get", "resource": "pods", "namespace": NAMESPACE}
    path = {"verb": "get", "path": "/healthz"}
    for kind, plural in (
        ("SelfSubjectAccessReview", f"{REVIEWS}/selfsubjectaccessreviews"),
        ("SubjectAccessReview", f"{REVIEWS}/subjectaccessreviews"),
        ("LocalSubjectAccessReview", f"{REVIEWS}/namespaces/{NAMESPACE}/localsubjectaccessreviews"),
    ):
        who = {} if kind.startswith("Self") else {"user": "dora", "groups": ["system:authenticated"]}
        yield Step(f"{kind} of a resource", "POST", plural, review(kind, who | {"resourceAttributes": asked}))
        yield Step(f"{kind} of a path", "POST", plural, review(kind, who | {"nonResourceAttributes": path}))
        both = {"resourceAttributes": asked, "nonResourceAttributes": path}
        yield Step(f"{kind} of both", "POST", plural, review(kind, who | both))
        yield Step(f"{kind} of nothing", "POST", plural, review(kind, who))
        yield Step(f"{kind} read", "GET", plural)
    rules = review("SelfSubjectRulesReview", {"namespace": NAMESPACE})
    yield Step("rules review", "POST", f"{REVIEWS}/selfsubjectrulesreviews", rules, as_user("dora"))
    none = review("SelfSubjectRulesReview", {})
    yield Step("rules review of nothing", "POST", f"{REVIEWS}/selfsubjectrulesreviews", none)
    own = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    extra = as_user("dora") | {"Impersonate-Uid": "7", "Impersonate-Extra-example.com%2fa": "b"}
    yield Step("self review", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", own, extra)


def _paths() -> Iterator[Step]:
    for path in ("/api", "/apis/apps", "/apis/apps/v1", "/api/v1", "/apis/batch/v1", "/apis/none", "/nothing"):
        yield Step(f"discovery {path}", "GET", path)
    yield Step("indented for curl", "GET", f"/api/v1/namespaces/{NAMESPACE}", None, {"User-Agent": "curl/8.0"})
    yield Step("indented refusal", "GET", "/api/v1/namespaces/none", None, {"User-Agent": "Wget/1.0"})
    yield Step("not indented on request", "GET", "/api/v1/namespaces/none?pretty=false", None, {"User-Agent": "curl/8"})
    yield Step("list in chunks", "GET", "/api/v1/namespaces?limit=1")
    yield Step("bad continue", "GET", "/api/v1/namespaces?continue=x")
    yield Step("bad limit", "GET", "/api/v1/namespaces?limit=x")
    yield Step(
        "future revision", "GET", "/api/v1/namespaces?resourceVersion=99999999&resourceVersionMatch=NotOlderThan"
    )
    yield Step("bad match", "GET", "/api/v1/namespaces?resourceVersionMatch=Exact")
    yield Step("unacceptable", "GET", "/api/v1/namespaces", None, {"Accept": "text/csv"})
