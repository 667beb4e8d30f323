"""Objects of a cluster as a server writes them: with uids, owners and hashes that are not ours."""

from typing import Any

Document = dict[str, Any]
BORN = "2026-05-01T10:00:00Z"


def template(image: str = "app:1", **spec: Any) -> Document:
    container = {"name": "main", "image": image, "resources": {"requests": {"cpu": "100m"}}}
    return {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container], **spec}}


def node(name: str = "n1") -> Document:
    resources = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    return lived("Node", name, namespace="", status={"allocatable": resources, "capacity": resources})


def workload(kind: str, wanted: int = 1, image: str = "app:1", **status: Any) -> Document:
    """A workload whose controller has seen its last change."""
    spec: Document = {"selector": {"matchLabels": {"app": "web"}}, "template": template(image)}
    if kind != "DaemonSet":
        spec["replicas"] = wanted
    found = lived(kind, "web", "apps/v1", spec=spec, status={"observedGeneration": 3, **status})
    found["metadata"]["generation"] = 3
    return found


def pod(name: str, owner: Document | None = None, on: str = "n1", image: str = "app:1", **labels: str) -> Document:
    """A running pod, of a controller where one is given."""
    found = lived("Pod", name, spec={**template(image)["spec"]}, status={"phase": "Pending"})
    found["metadata"]["labels"] = {"app": "web", **labels}
    if on:
        found["spec"]["nodeName"] = on
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": BORN}
        found["status"] = {"phase": "Running", "conditions": [ready], "startTime": BORN}
    if owner is not None:
        found["metadata"]["ownerReferences"] = [
            reference(owner["kind"], owner["metadata"]["name"], owner["apiVersion"])
        ]
    return found


def reference(kind: str, name: str, api_version: str = "apps/v1") -> Document:
    return {
        "apiVersion": api_version, "kind": kind, "name": name, "uid": f"uid-{kind}-{name}", "controller": True,
        "blockOwnerDeletion": True,
    }  # fmt: skip


def lived(kind: str, name: str, api_version: str = "v1", namespace: str = "default", **more: Any) -> Document:
    metadata: Document = {"name": name, "uid": f"uid-{kind}-{name}", "creationTimestamp": BORN, "resourceVersion": "7"}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}
