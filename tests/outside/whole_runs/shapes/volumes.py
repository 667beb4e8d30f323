"""Claims that wait for their first consumer: the pod waits in PreBind until they are bound."""

from typing import Any

from tests.outside.objects import node, pod, priority_class
from tests.outside.whole_runs.shape import Document, Shape, Step, create, delete, patch

BOUND = "pv.kubernetes.io/bind-completed"


def storage_class(provisioner: str = "disk.example.com") -> Document:
    head = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "wait"}}
    return {**head, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"}


def claim(name: str) -> Document:
    resources = {"requests": {"storage": "5Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": resources, "storageClassName": "wait"}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def volume(name: str, on: str, size: str = "5Gi") -> Document:
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [on]}]}
    spec = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "wait",
        "csi": {"driver": "disk.example.com", "volumeHandle": name},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def available(name: str) -> Step:
    return patch("PersistentVolume", name, {"status": {"phase": "Available"}}, subresource="status")


def user(name: str, *claims: str, **spec: Any) -> Document:
    volumes = [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(claims)]
    return pod(name, volumes=volumes, **spec)


def bound(of: str, to: str) -> Step:
    """What the volume controller writes of a claim at last."""
    body = {"metadata": {"annotations": {BOUND: "yes"}}, "spec": {"volumeName": to}}
    return patch("PersistentVolumeClaim", of, body)


def selected(of: str, node: str | None) -> Step:
    return patch(
        "PersistentVolumeClaim", of, {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": node}}}
    )


SLOW = {"podInitialBackoffSeconds": 60, "podMaxBackoffSeconds": 60}
SHORT = {"profiles": [{"pluginConfig": [{"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 2}}]}]}

SHAPES = (
    Shape(
        "claims that are provisioned after a while",
        (
            create(storage_class(), claim("c1"), claim("c2"), node("n1"), node("n2", cpu="4")),
            create(user("p1", "c1"), user("p2", "c2"), pod("plain")),
            (*create(volume("v1", "n1")), *bound("c1", "v1")),
            (*create(volume("v2", "n1")), *bound("c2", "v2")),
            create(user("late", "c1")),
        ),
        seconds=1.4,
        expects=lambda pods: all(pods[name]["node"] for name in ("p1", "p2", "plain", "late")),
    ),
    Shape(
        "claims that are bound to volumes which are there",
        (
            create(storage_class("kubernetes.io/no-provisioner"), claim("c1"), claim("c2"), node("n1"), node("n2")),
            create(user("p1", "c1", "c2")),
            create(volume("small", "n2", "5Gi")),
            available("small"),
            create(volume("large", "n2", "50Gi")),
            available("large"),
            (*bound("c1", "small"), *bound("c2", "large")),
        ),
        seconds=1.4,
        expects=lambda pods: pods["p1"]["node"] == "n2",
    ),
    Shape(
        "claims that are not bound in time",
        (
            create(storage_class(), claim("c1"), node("n1")),
            create(user("p1", "c1")),
        ),
        {**SLOW, **SHORT},
        backing_off=1,
        seconds=2.4,
        expects=lambda pods: not pods["p1"]["node"],
    ),
    Shape(
        "a provisioner that gives up",
        (
            create(storage_class(), claim("c1"), node("n1")),
            create(user("p1", "c1")),
            selected("c1", None),
        ),
        SLOW,
        backing_off=1,
        seconds=1.4,
        expects=lambda pods: not pods["p1"]["node"],
    ),
    Shape(
        "a pod is deleted while its volume is awaited",
        (
            create(storage_class(), claim("c1"), node("n1", cpu="1")),
            create(user("p1", "c1", cpu="600m")),
            delete("Pod", "p1"),
            create(pod("next", cpu="600m")),
        ),
        seconds=1.4,
        expects=lambda pods: pods["next"]["node"] == "n1" and "p1" not in pods,
    ),
    Shape(
        "a pod that waits for volumes makes room",
        (
            create(storage_class(), claim("c1"), node("n1", cpu="1")),
            create(priority_class("high", 1000)),
            create(user("p1", "c1", cpu="600m")),
            create(pod("equal", cpu="600m")),
            # Whether the preemptor is still held back when the binding of its victim fails is a race upstream, which
            # then forgets the pod until the next event: a pod that comes and goes is such an event.
            (
                *create(pod("high", cpu="600m", priorityClassName="high"), pod("tiny", cpu="10m")),
                *delete("Pod", "tiny"),
            ),
        ),
        SLOW,
        backing_off=1,
        random={
            "attempts:equal": "whether it is tried before the nomination of the preempted pod is cleared",
            "events:equal": "the same",
            "events:high": "whether it is popped again before its status of the first attempt has come back",
        },
        expects=lambda pods: pods["high"]["node"] == "n1" and not pods["p1"]["node"] and not pods["equal"]["node"],
    ),
)
