"""Builders of RBAC objects, and requests of users to a server that evaluates them."""

from typing import Any

from tests.server.client import Reply, Server

RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"


def rule(verbs: str, resources: str = "", groups: str = "", names: str = "", urls: str = "") -> dict[str, Any]:
    """A policy rule; each argument is a list of words."""
    document: dict[str, Any] = {"verbs": verbs.split()}
    if resources:
        document |= {"apiGroups": groups.split() or [""], "resources": resources.split()}
    if names:
        document["resourceNames"] = names.split()
    if urls:
        document["nonResourceURLs"] = urls.split()
    return document


def cluster_role(name: str, *rules: dict[str, Any], labels: dict[str, str] | None = None) -> dict[str, Any]:
    metadata = {"name": name} | ({"labels": labels} if labels else {})
    return {"apiVersion": f"{GROUP}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": list(rules)}


def role(name: str, *rules: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/v1", "kind": "Role", "metadata": {"name": name}, "rules": list(rules)}


def binding(name: str, referred: str, *subjects: str, namespace: str = "", kind: str = "ClusterRole") -> dict[str, Any]:
    """A RoleBinding in a namespace or a ClusterRoleBinding; a subject is `User:ann`, `Group:crew` or `ns/account`."""
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": referred},
        "subjects": [_subject(subject) for subject in subjects],
    }


def _subject(text: str) -> dict[str, str]:
    if "/" in text:
        namespace, name = text.split("/")
        return {"kind": "ServiceAccount", "namespace": namespace, "name": name}
    kind, name = text.split(":", 1)
    return {"kind": kind, "apiGroup": GROUP, "name": name}


def create(server: Server, document: dict[str, Any], namespace: str = "", **headers: str) -> Reply:
    """Create an RBAC object, as the administrator unless the headers say otherwise."""
    plural = document["kind"].lower() + "s"
    path = f"{RBAC}/namespaces/{namespace}/{plural}" if namespace else f"{RBAC}/{plural}"
    return server("POST", path, document, **headers)


def grant(server: Server, user: str, *rules: dict[str, Any], namespace: str = "") -> None:
    """Give a user these rules, in one namespace or in all."""
    name = f"grant-{user.replace(':', '-')}-{namespace or 'all'}"
    assert create(server, cluster_role(name, *rules)).status == 201
    bound = binding(name, name, f"User:{user}", namespace=namespace)
    assert create(server, bound, namespace).status == 201


def allowed(server: Server, user: str, verb: str, path: str) -> bool:
    """Whether a request of a user gets past authorization."""
    return server(verb, path, impersonate_user=user).status != 403
