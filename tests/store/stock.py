"""The documents that store tests put in."""

from collections.abc import Sequence
from typing import Any

from seatrial.model.documents import encode
from seatrial.store import Store, Stored

Document = dict[str, Any]


def pod(name: str, namespace: str = "default", **spec: Any) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [{"name": "main", "image": "registry.example/main:1"}], **spec},
    }


def config_map(name: str, namespace: str = "default", **data: str) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": dict(data),
    }


def deployment(name: str, replicas: int = 1, namespace: str = "default") -> Document:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod("x")["spec"]},
        },
    }


def node(name: str, **status: Any) -> Document:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def budget(name: str, allowed: int, **labels: str) -> Document:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}},
        "status": {"observedGeneration": 1, "disruptionsAllowed": allowed, "desiredHealthy": 1, "currentHealthy": 1},
    }


def definition(schema: Document | None = None, **version: Any) -> Document:
    """A definition of widgets.example.com, with one version v1 unless told otherwise."""
    whole = {"type": "object", "properties": {"spec": schema or {"type": "object"}, "status": {"type": "object"}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": whole}, **version}
            ],
        },
    }


def widget(name: str, version: str = "v1", **spec: Any) -> Document:
    return {
        "apiVersion": f"example.com/{version}",
        "kind": "Widget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def members_of(data: dict[str, str]) -> list[bytes]:
    """The members of the data of a ConfigMap, each encoded, with a comma before each but the first."""
    encoded = [encode({key: value})[1:-1] for key, value in data.items()]
    return [*encoded[:1], *(b"," + each for each in encoded[1:])]


def write_members(store: Store, stored: Stored, members: Sequence[bytes]) -> Stored:
    """Write a ConfigMap whose data is kept in pieces, one for each member."""
    document = {key: value for key, value in stored.document().items() if key != "data"}

    def pieces(revision: int) -> tuple[bytes, ...]:
        document["metadata"]["resourceVersion"] = str(revision)
        return encode(document)[:-1] + b',"data":{', *members, b"}}"

    return store.write_pieces(stored, pieces, writer="test", subresource="")
