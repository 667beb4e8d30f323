"""Makes manifests of a cluster's objects: what `kubectl apply` of them would need.

Fields that a server sets are dropped, and with them the uids that refer to other objects. Objects that every server
has, and pods and Jobs that are over, are left out. So are the pods of a Job, DaemonSet or StatefulSet in the file: it
would know them by its uid or by a revision, and makes its own. ReplicaSets adopt their pods.
"""

from collections.abc import Sequence

from seatrial.model.documents import Document
from seatrial.store.snapshots.cleaning import clean
from seatrial.store.snapshots.loading import in_order
from seatrial.store.snapshots.owners import controller_of

SERVER_FIELDS = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
SYSTEM_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
WITH_STATUS = ("Node", "PersistentVolume", "ResourceClaim")
"""Kinds whose status is not the work of a controller that runs here."""
JOB_LABELS = ("batch.kubernetes.io/controller-uid", "controller-uid", "batch.kubernetes.io/job-name", "job-name")
BOUND = ("pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller")
"""Annotations by which a claim whose volume has no uid of it counts as Lost; without them the two are bound again."""
OVER = ("Complete", "Failed")
MAKERS = ("DaemonSet", "Job", "StatefulSet")


def manifests_of(documents: Sequence[Document]) -> list[Document]:
    """The objects as they can be created; manifests that never were on a server stay as they are."""
    if not any(_has_lived(document) for document in documents):
        return list(documents)
    kept = list(clean(documents))
    makers = {document["metadata"].get("uid") for document in kept if document["kind"] in MAKERS}
    return in_order(_manifest(document) for document in kept if not _is_left_out(document, makers))


def _has_lived(document: Document) -> bool:
    metadata = document.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("uid") or metadata.get("resourceVersion"))


def _is_left_out(document: Document, makers: set[str | None]) -> bool:
    kind, metadata, status = document["kind"], document["metadata"], document.get("status") or {}
    if metadata.get("deletionTimestamp") or kind == "ControllerRevision":
        return True
    if kind == "Pod":
        return status.get("phase") in ("Succeeded", "Failed") or (controller_of(document) or {}).get("uid") in makers
    if kind == "Job":
        return any(_is_true(condition) for condition in status.get("conditions") or ())
    if kind == "ServiceAccount" and metadata.get("name") == "default":
        return True
    return kind == "Namespace" and metadata.get("name") in SYSTEM_NAMESPACES


def _manifest(document: Document) -> Document:
    metadata = {key: value for key, value in document["metadata"].items() if key not in SERVER_FIELDS}
    if document["kind"] in ("PersistentVolume", "PersistentVolumeClaim") and metadata.get("annotations"):
        metadata["annotations"] = {key: value for key, value in metadata["annotations"].items() if key not in BOUND}
    made = {**document, "metadata": metadata}
    if document["kind"] not in WITH_STATUS:
        made.pop("status", None)
    spec = document.get("spec") or {}
    if document["kind"] == "Job" and not spec.get("manualSelector"):
        made["spec"] = _job_spec(spec)
    if document["kind"] == "PersistentVolume" and isinstance((document.get("spec") or {}).get("claimRef"), dict):
        reference = {
            key: value for key, value in document["spec"]["claimRef"].items() if key not in ("uid", "resourceVersion")
        }
        made["spec"] = {**document["spec"], "claimRef": reference}
    return made


def _job_spec(spec: Document) -> Document:
    """Without the selector that the server made from the Job's uid."""
    template = spec.get("template") or {}
    inner = template.get("metadata") or {}
    labels = {key: value for key, value in (inner.get("labels") or {}).items() if key not in JOB_LABELS}
    kept = {key: value for key, value in spec.items() if key != "selector"}
    return {**kept, "template": {**template, "metadata": {**inner, "labels": labels}}}


def _is_true(condition: Document) -> bool:
    return condition.get("type") in OVER and condition.get("status") == "True"
