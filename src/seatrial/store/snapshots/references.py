"""Names what the objects of a snapshot refer to and what is not in it, and what is done about each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from seatrial.model.builtin import builtin_kinds
from seatrial.model.documents import Document
from seatrial.store.snapshots.completion import SYSTEM_PRIORITIES, Place, absent_claims, place_of
from seatrial.store.snapshots.owners import owners_of

NAMED = 3
"""Names that a sentence gives."""
OVER = ("Succeeded", "Failed")


@dataclass(slots=True)
class Missing:
    """Absent objects of one kind, and the objects that refer to them."""

    kind: str
    names: dict[str, None] = field(default_factory=dict)
    users: dict[str, int] = field(default_factory=dict)
    done: str = ""

    def note(self, name: str, user: str) -> None:
        self.names[name] = None
        self.users[user] = self.users.get(user, 0) + 1

    def __str__(self) -> str:
        more = len(self.names) - NAMED
        names = ", ".join(list(self.names)[:NAMED]) + (f" and {more} more" if more > 0 else "")
        users = ", ".join(f"{count} {plural(kind, count)}" for kind, count in self.users.items())
        return f"{self.kind} {names}: not in the snapshot, referred to by {users}; {self.done}"


SPREADING = ("ReplicaSet", "ReplicationController", "StatefulSet")
"""The owners by whose selectors PodTopologySpread spreads pods by default."""
STAYS = "kept as before, without a controller"
SPREAD = "the scheduler spreads such pods by default only where a Service selects them"


def missing_references(documents: Sequence[Document]) -> list[str]:
    """One sentence for each kind of object that is referred to and missing."""
    present = {place_of(document) for document in documents}
    found = [*_owners(documents), *_revisions_made(documents)]
    found += _classes(documents, present)
    found += _claims(documents, present)
    found += _nodes_and_volumes(documents, present)
    found += _definitions(documents)
    return [str(missing) for missing in found if missing.names]


def plural(kind: str, count: int = 2) -> str:
    """A kind for a number of objects: 2 Pods, 1 Pod, 3 StorageClasses."""
    if count == 1:
        return kind
    return f"{kind}es" if kind.endswith("s") else f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"


def _owners(documents: Sequence[Document]) -> Iterator[Missing]:
    """Owners that stay absent, by kind; those that are made again are not among them."""
    uids = {document["metadata"].get("uid") for document in documents}
    by_name = {place_of(document) for document in documents if not document["metadata"].get("uid")}
    made = {name for missing in _revisions_made(documents) for name in missing.names}
    kinds: dict[str, Missing] = {}
    for document in documents:
        namespace = str(document["metadata"].get("namespace", ""))
        for owner in owners_of(document):
            kind, name = str(owner.get("kind")), str(owner.get("name"))
            if owner.get("uid") in uids or {(kind, namespace, name), (kind, "", name)} & by_name:
                continue
            where = f"{namespace}/{name}" if namespace else name
            if where not in made:
                done = f"{STAYS}; {SPREAD}" if kind in SPREADING else STAYS
                kinds.setdefault(kind, Missing(kind, done=done)).note(where, document["kind"])
    yield from kinds.values()


def _revisions_made(documents: Sequence[Document]) -> Iterator[Missing]:
    """ReplicaSets that are absent and whose Deployment is there."""
    deployments = {place_of(document)[1:] for document in documents if document["kind"] == "Deployment"}
    uids = {document["metadata"].get("uid") for document in documents}
    done = "made again from the Deployment's template with the hash of the pods"
    sets = Missing("ReplicaSet", done=done)
    for pod in documents:
        namespace = str(pod["metadata"].get("namespace", ""))
        for owner in owners_of(pod) if pod["kind"] == "Pod" else ():
            name = str(owner.get("name"))
            is_known = (namespace, name.rpartition("-")[0]) in deployments
            if owner.get("kind") == "ReplicaSet" and owner.get("uid") not in uids and is_known:
                sets.note(f"{namespace}/{name}", "Pod")
    yield sets


def _classes(documents: Sequence[Document], present: set[Place]) -> Iterator[Missing]:
    made = Missing("PriorityClass", done="made again with the priority of its pods")
    lost = Missing("PriorityClass", done="pods with it cannot be created before you create it")
    storage = Missing(
        "StorageClass", done="bound claims stay bound, others wait for a volume that fits or for the class"
    )
    valued = {_text(_part(pod, "spec"), "priorityClassName") for pod in documents if _has_priority(pod)}
    for document in documents:
        spec = _part(document, "spec")
        template = _part(_part(spec, "template"), "spec")
        name = _text(spec if document["kind"] == "Pod" else template, "priorityClassName")
        if name and ("PriorityClass", "", name) not in present and name not in SYSTEM_PRIORITIES:
            (made if name in valued else lost).note(name, document["kind"])
        if document["kind"] in ("PersistentVolumeClaim", "PersistentVolume"):
            name = _text(spec, "storageClassName")
            if name and ("StorageClass", "", name) not in present:
                storage.note(name, document["kind"])
    yield from (made, lost, storage)


def _claims(documents: Sequence[Document], present: set[Place]) -> Iterator[Missing]:
    valid = [document for document in documents if isinstance(document.get("spec"), dict)]
    made = dict.fromkeys(place_of(claim) for claim in absent_claims(valid))
    again = Missing("PersistentVolumeClaim", done="made again from the volume that is bound to it")
    lost = Missing(
        "PersistentVolumeClaim", done="bound pods stay; a pod that has to be scheduled waits until you create it"
    )
    for place in made:
        again.note(f"{place[1]}/{place[2]}", "PersistentVolume")
    for pod in documents:
        volumes = _part(pod, "spec").get("volumes") if pod["kind"] == "Pod" else None
        for volume in volumes if isinstance(volumes, list) else ():
            name = _text(_part(volume, "persistentVolumeClaim"), "claimName")
            place = "PersistentVolumeClaim", str(pod["metadata"].get("namespace", "")), name
            if name and place not in present and place not in made:
                lost.note(f"{place[1]}/{place[2]}", "Pod")
    yield from (again, lost)


def _nodes_and_volumes(documents: Sequence[Document], present: set[Place]) -> Iterator[Missing]:
    nodes = Missing("Node", done="they stay bound to it and take no room on other nodes")
    volumes = Missing("PersistentVolume", done="the claims become Lost; bound pods stay")
    for document in documents:
        name = _text(_part(document, "spec"), "nodeName" if document["kind"] == "Pod" else "volumeName")
        is_over = _part(document, "status").get("phase") in OVER
        if document["kind"] == "Pod" and name and not is_over and ("Node", "", name) not in present:
            nodes.note(name, "Pod")
        elif document["kind"] == "PersistentVolumeClaim" and name and ("PersistentVolume", "", name) not in present:
            volumes.note(name, "PersistentVolumeClaim")
    yield from (nodes, volumes)


def _definitions(documents: Sequence[Document]) -> Iterator[Missing]:
    """Kinds that no server has by itself."""
    done = "a run that does not serve the kind cannot load them: add the definition or leave them out"
    missing, kinds = Missing("CustomResourceDefinition", done=done), builtin_kinds()
    defined = {
        (_text(_part(document, "spec"), "group"), _text(_part(_part(document, "spec"), "names"), "kind"))
        for document in documents
        if document["kind"] == "CustomResourceDefinition"
    }
    for document in documents:
        api_version, kind = document["apiVersion"], document["kind"]
        group = api_version.rpartition("/")[0]
        if kinds.named(api_version, kind) is None and (group, kind) not in defined:
            missing.note(f"of {kind}.{group or api_version}", kind)
    yield missing


def _has_priority(pod: Document) -> bool:
    return pod["kind"] == "Pod" and isinstance(_part(pod, "spec").get("priority"), int)


def _text(part: dict[str, Any], key: str) -> str:
    value = part.get(key)
    return value if isinstance(value, str) else ""


def _part(document: Any, key: str) -> dict[str, Any]:
    part = document.get(key) if isinstance(document, dict) else None
    return part if isinstance(part, dict) else {}
