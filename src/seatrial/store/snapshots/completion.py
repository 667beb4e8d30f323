"""Makes objects that a snapshot refers to and leaves out, where their content follows from those that refer to them.

Controllers would otherwise answer their absence: garbage collection deletes the pods of an absent ReplicaSet, the
Deployment creates others, and a volume whose claim is absent is released and deleted. Uids are taken from references
where objects come without one (`kubectl neat`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from seatrial.model.documents import Document
from seatrial.store.snapshots.owners import owners_of
from seatrial.store.snapshots.revisions import absent_replica_sets, absent_revisions

Place = tuple[str, str, str]
"""Kind, namespace and name."""
SYSTEM_PRIORITIES = ("system-cluster-critical", "system-node-critical")


def complete(documents: Sequence[Document]) -> list[Document]:
    """The objects that valid documents refer to, that are absent, and whose content is known."""
    made = [*absent_claims(documents), *absent_priority_classes(documents), *absent_replica_sets(documents)]
    return [*made, *absent_revisions(documents)]


def with_uids(documents: Iterable[Document]) -> Iterator[Document]:
    """The objects, those without a uid with the one by which others refer to them."""
    documents = list(documents)
    known = _referred_uids(documents)
    for document in documents:
        uid = known.get(place_of(document))
        if uid and not document["metadata"].get("uid"):
            yield {**document, "metadata": {**document["metadata"], "uid": uid}}
        else:
            yield document


def absent_claims(documents: Sequence[Document]) -> Iterator[Document]:
    """The claims that bound volumes refer to; a volume of a claim that is gone is Released."""
    present = {place_of(document) for document in documents if document["kind"] == "PersistentVolumeClaim"}
    for volume in documents:
        reference = (volume.get("spec") or {}).get("claimRef") or {}
        is_bound = (volume.get("status") or {}).get("phase") == "Bound"
        if volume["kind"] != "PersistentVolume" or not is_bound or not reference.get("name"):
            continue
        if ("PersistentVolumeClaim", reference.get("namespace", ""), reference["name"]) not in present:
            yield _claim_of(volume, reference)


def absent_priority_classes(documents: Sequence[Document]) -> Iterator[Document]:
    """The priority classes that pods name, with the priority that most of those pods have."""
    present = {document["metadata"]["name"] for document in documents if document["kind"] == "PriorityClass"}
    values: dict[str, Counter[tuple[int, str]]] = {}
    for pod in documents:
        spec = pod.get("spec") or {}
        name, priority = spec.get("priorityClassName"), spec.get("priority")
        if pod["kind"] == "Pod" and name and isinstance(priority, int):
            policy = spec.get("preemptionPolicy", "PreemptLowerPriority")
            values.setdefault(name, Counter())[priority, policy] += 1
    for name, counted in values.items():
        if name not in present and name not in SYSTEM_PRIORITIES:
            (value, policy), _ = max(counted.items(), key=lambda item: (item[1], item[0]))
            yield {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
                "preemptionPolicy": policy,
            }


def place_of(document: Document) -> Place:
    """Kind, namespace and name of an object."""
    metadata = document["metadata"]
    return document["kind"], str(metadata.get("namespace", "")), metadata["name"]


def _referred_uids(documents: Iterable[Document]) -> dict[Place, str]:
    found: dict[Place, str] = {}
    for document in documents:
        namespace = str(document["metadata"].get("namespace", ""))
        for owner in owners_of(document):
            for where in dict.fromkeys((namespace, "")):
                found[str(owner.get("kind")), where, str(owner.get("name"))] = str(owner.get("uid", ""))
        spec = document.get("spec")
        claim = spec.get("claimRef") if isinstance(spec, dict) else None
        if document["kind"] == "PersistentVolume" and isinstance(claim, dict):
            place = "PersistentVolumeClaim", str(claim.get("namespace", "")), str(claim.get("name"))
            found[place] = str(claim.get("uid", ""))
    return found


def _claim_of(volume: Document, reference: Document) -> Document:
    spec = volume["spec"]
    metadata: Document = {
        "name": reference["name"],
        "namespace": reference.get("namespace", "default"),
        "annotations": {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"},
        "finalizers": ["kubernetes.io/pvc-protection"],
    }
    if reference.get("uid"):
        metadata["uid"] = reference["uid"]
    if volume["metadata"].get("creationTimestamp"):
        metadata["creationTimestamp"] = volume["metadata"]["creationTimestamp"]
    storage = {"storage": (spec.get("capacity") or {}).get("storage", "0")}
    modes = spec.get("accessModes") or []
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": {
            "accessModes": modes,
            "resources": {"requests": storage},
            "storageClassName": spec.get("storageClassName", ""),
            "volumeMode": spec.get("volumeMode", "Filesystem"),
            "volumeName": volume["metadata"]["name"],
        },
        "status": {"phase": "Bound", "accessModes": modes, "capacity": storage},
    }
