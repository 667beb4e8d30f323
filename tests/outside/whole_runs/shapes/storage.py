"""Volumes: claims, volumes, classes, drivers and limits that pods wait for."""

from typing import Any

from tests.outside.whole_runs.builders import claim, named, node, pod, storage_class, volume
from tests.outside.whole_runs.shape import Document, Shape, create, patch

CSI = "csi.example.com"


def with_claim(name: str, *claims: str, **spec: Any) -> Document:
    volumes = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims]
    return pod(name, volumes=volumes, **spec)


def csi_volume(name: str, claim: str) -> Document:
    document: Document = volume(name, "fast", claim=claim)
    del document["spec"]["hostPath"]
    document["spec"]["csi"] = {"driver": CSI, "volumeHandle": name}
    return document


def csi_node(name: str, limit: int) -> Document:
    driver = {"name": CSI, "nodeID": name, "topologyKeys": [], "allocatable": {"count": limit}}
    return named("storage.k8s.io/v1", "CSINode", name, spec={"drivers": [driver]})


SHAPES = (
    Shape(
        "a claim that is missing, then unbound, then bound",
        (
            create(node("n1"), node("n2"), storage_class("manual")),
            create(with_claim("a", "data"), with_claim("b", "other")),
            create(claim("data", "manual")),
            create(volume("pv", "manual", "n2", "data")),
            patch(
                "PersistentVolumeClaim",
                "data",
                {"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}, "spec": {"volumeName": "pv"}},
            ),
            create(claim("other", "absent")),
        ),
        expects=lambda pods: pods["a"]["node"] == "n2",
    ),
    Shape(
        "a volume in another zone, and a node that comes there",
        (
            create(node("n1"), storage_class("manual")),
            create(volume("pv", "manual", "n2", "data"), claim("data", "manual", "pv")),
            create(with_claim("a", "data"), with_claim("b", "data")),
            create(node("n2", cpu="150m")),
            patch("Node", "n2", {"status": {"allocatable": {"cpu": "1"}}}, subresource="status"),
        ),
        expects=lambda pods: pods["a"]["node"] == "n2",
    ),
    Shape(
        "limits of attachable volumes",
        (
            create(node("n1"), storage_class("fast", provisioner=CSI), csi_node("n1", 1)),
            create(*(csi_volume(f"pv{n}", f"c{n}") for n in range(3))),
            create(*(claim(f"c{n}", "fast", f"pv{n}") for n in range(3))),
            create(*(with_claim(f"p{n}", f"c{n}") for n in range(3))),
            patch(
                "CSINode",
                "n1",
                {"spec": {"drivers": csi_node("n1", 2)["spec"]["drivers"]}},
                api_version="storage.k8s.io/v1",
            ),
            create(node("n2"), csi_node("n2", 5)),
        ),
        expects=lambda pods: bool(pods["p0"]["node"]),
    ),
)
