"""Small objects for the controllers' tests."""

from typing import Any

Document = dict[str, Any]
Notes = dict[str, str] | None
RUN = "simulation.kube-scheduler-simulator.x-k8s.io/run-duration"
EXIT = "simulation.kube-scheduler-simulator.x-k8s.io/exit-code"
USAGE = "simulation.kube-scheduler-simulator.x-k8s.io/usage"


def template(app: str = "web", annotations: Notes = None, **spec: Any) -> Document:
    container = {"name": "c", "image": "app:1", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}
    meta: Document = {"labels": {"app": app}}
    if annotations:
        meta["annotations"] = annotations
    return {"metadata": meta, "spec": {"containers": [container]} | spec}


def pod(name: str, app: str = "web", annotations: Notes = None, **spec: Any) -> Document:
    made = template(app, annotations, **spec)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": made["metadata"] | {"name": name}, "spec": made["spec"]}


def deployment(name: str = "web", replicas: int = 3, annotations: Notes = None, **spec: Any) -> Document:
    selector = {"matchLabels": {"app": name}}
    body = {"replicas": replicas, "selector": selector, "template": template(name, annotations)} | spec
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": body}


def daemonset(name: str = "agent", **spec: Any) -> Document:
    body = {"selector": {"matchLabels": {"app": name}}, "template": template(name, **spec)}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name}, "spec": body}


def job(name: str = "work", annotations: Notes = None, **spec: Any) -> Document:
    made = template(name, annotations, restartPolicy="Never")
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": made} | spec}


def stage(name: str, kind: str = "Pod", group: str = "v1", **spec: Any) -> Document:
    reference = {"apiGroup": group, "kind": kind}
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {"resourceRef": reference} | spec,
    }
