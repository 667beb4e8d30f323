"""Reads the pod or the node that a capacity question is about."""

from collections.abc import Sequence
from pathlib import Path

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError
from seatrial.store.input_files import read_documents

KEPT = ("name", "namespace", "labels", "annotations")
"""Metadata that a copy of an object has."""


def read_pod(path: Path) -> Document:
    """The Pod of a file, or the pod that the workload in it would create, as a new one."""
    document = _read(path)
    name = _name(document, path)
    template = document if document.get("kind") == "Pod" else _template(document)
    if template is None:
        why = f"expected a Pod or an object with a pod template, got {document.get('kind')!r}"
        raise ConfigError(str(path), "kind", why)
    spec = template.get("spec")
    if not isinstance(spec, dict) or not isinstance(spec.get("containers"), list):
        raise ConfigError(str(path), "spec.containers", "expected the containers of a pod")
    metadata = {key: value for key, value in (template.get("metadata") or {}).items() if key in KEPT}
    namespace = document["metadata"].get("namespace") or "default"
    spec = {key: value for key, value in spec.items() if key not in ("nodeName", "priority", "preemptionPolicy")}
    metadata |= {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def read_objects(paths: Sequence[Path]) -> list[Document]:
    """All objects of files (`helm template`, `kubectl kustomize`), those of lists one by one."""
    found = []
    for path in paths:
        for document in read_documents(path):
            for each in document.get("items", [document]) if isinstance(document, dict) else [document]:
                if not isinstance(each, dict) or not isinstance(each.get("kind"), str):
                    raise ConfigError(str(path), "kind", "expected objects of Kubernetes")
                _name(each, path)
                found.append(each)
    return found


def read_node(path: Path) -> Document:
    """The Node of a file, as a new one."""
    document = _read(path)
    if (document.get("apiVersion"), document.get("kind")) != ("v1", "Node"):
        raise ConfigError(str(path), "kind", f"expected a Node, got {document.get('kind')!r}")
    name = _name(document, path)
    metadata = {key: value for key, value in document["metadata"].items() if key in KEPT}
    kept = {"apiVersion": "v1", "kind": "Node", "metadata": {**metadata, "name": name}}
    return kept | {part: document[part] for part in ("spec", "status") if isinstance(document.get(part), dict)}


def _template(document: Document) -> Document | None:
    """The pod template of a workload; a CronJob has it in its Job."""
    spec = document.get("spec")
    while isinstance(spec, dict):
        if isinstance(spec.get("template"), dict):
            template: Document = spec["template"]
            return template
        spec = (spec.get("jobTemplate") or {}).get("spec")
    return None


def _read(path: Path) -> Document:
    documents = read_documents(path)
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise ConfigError(str(path), "", f"expected one object, found {len(documents)}")
    document: Document = documents[0]
    return document


def _name(document: Document, path: Path) -> str:
    metadata = document.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        raise ConfigError(str(path), "metadata.name", "is required")
    return str(metadata["name"])
