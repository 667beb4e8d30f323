"""Builders of Volcano's objects."""

from typing import Any

from seatrial.clock.virtual import Clock
from seatrial.model.documents import Document
from seatrial.scenario.cluster import fresh_store
from seatrial.store.store import Store
from seatrial.volcano.apis import BATCH, BUS, SCHEDULING, kind_of
from seatrial.volcano.apis.installation import install
from tests.known_kinds import known_kind


def volcano_store(clock: Clock | None = None) -> Store:
    """An empty cluster in which Volcano's kinds are served."""
    store = fresh_store(clock or Clock())
    install(store)
    return store


def template(cpu: str = "1", **spec: Any) -> Document:
    container = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}
    return {"spec": {"restartPolicy": "Never", "containers": [container], **spec}}


def task(name: str = "work", replicas: int = 1, **fields: Any) -> Document:
    return {"name": name, "replicas": replicas, "template": template(), **fields}


def job(name: str = "train", *tasks: Document, **spec: Any) -> Document:
    return {
        "apiVersion": BATCH,
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"tasks": list(tasks) or [task()], **spec},
    }


def queue(name: str, *, annotations: dict[str, str] | None = None, **spec: Any) -> Document:
    metadata = {"name": name, **({"annotations": annotations} if annotations else {})}
    return {"apiVersion": SCHEDULING, "kind": "Queue", "metadata": metadata, "spec": spec}


def pod_group(name: str = "group", **spec: Any) -> Document:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": SCHEDULING, "kind": "PodGroup", "metadata": metadata, "spec": {"minMember": 1, **spec}}


def command(action: str, kind: str, name: str, api_version: str = BATCH) -> Document:
    target = {"apiVersion": api_version, "kind": kind, "name": name, "uid": "0"}
    return {
        "apiVersion": BUS,
        "kind": "Command",
        "metadata": {"generateName": "command-", "namespace": "default"},
        "action": action,
        "target": target,
    }


def create(store: Store, document: Document) -> Document:
    """Create an object as a user; what is stored."""
    kind = known_kind(store.kinds, document["apiVersion"], document["kind"])
    return store.create(kind, document, writer="user", namespace=document["metadata"].get("namespace", "")).document()


def found(store: Store, named: tuple[str, str], name: str, namespace: str = "default") -> Document:
    kind = kind_of(store, named)
    return store.get(kind, name, namespace if kind.namespaced else "").document()
