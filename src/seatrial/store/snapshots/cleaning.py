"""Drops from a cluster's objects what belongs to the server they come from.

Left out are the records of a living cluster (events, leases, endpoints, metrics), the objects that every server makes
for itself, webhooks (their services do not run here), the data of Secrets, the server's bookkeeping, and the results
that Seatrial or kube-scheduler-simulator wrote into annotations.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from seatrial.model.documents import Document
from seatrial.store.snapshots.owners import ABSENT_OWNERS

RECORDS = frozenset(
    {
        "APIService",
        "Binding",
        "CertificateSigningRequest",
        "ComponentStatus",
        "Endpoints",
        "EndpointSlice",
        "Event",
        "FlowSchema",
        "IPAddress",
        "Lease",
        "MutatingWebhookConfiguration",
        "NodeMetrics",
        "PodMetrics",
        "PriorityLevelConfiguration",
        "Scenario",
        "ServiceCIDR",
        "ValidatingWebhookConfiguration",
    }
)
"""Kinds of objects that a server or its components write for themselves."""
OF_EVERY_SERVER = frozenset({("ConfigMap", "kube-root-ca.crt"), ("Service", "kubernetes")})
BOOTSTRAPPING = "kubernetes.io/bootstrapping"
TOKEN = "kubernetes.io/service-account-token"
RESULTS = "kube-scheduler-simulator.sigs.k8s.io/"
"""Prefix of the annotations that hold results of scheduling."""
BOOKKEEPING = ("managedFields", "selfLink", "resourceVersion")


def clean(documents: Iterable[Document], left_out: "Counter[str] | None" = None) -> Iterator[Document]:
    """The objects without what belongs to the old server; one that is given twice is kept once.

    `left_out` counts the objects that are left out, by kind.
    """
    seen: set[tuple[str, ...]] = set()
    for document in documents:
        metadata = {key: value for key, value in (document.get("metadata") or {}).items() if key not in BOOKKEEPING}
        group = document["apiVersion"].rpartition("/")[0]
        identity = (group, document["kind"], str(metadata.get("namespace", "")), str(metadata.get("name", "")))
        if identity in seen and identity[3]:
            continue
        seen.add(identity)
        if _belongs_to_server(document):
            if left_out is not None:
                left_out[document["kind"]] += 1
            continue
        _clean_annotations(metadata)
        kept = {**document, "metadata": metadata}
        if document["kind"] == "Secret":
            kept = {key: value for key, value in kept.items() if key not in ("data", "stringData")}
            metadata.pop("annotations", None)
        yield kept


def _belongs_to_server(document: Document) -> bool:
    kind, metadata = document["kind"], document.get("metadata") or {}
    name = str(metadata.get("name", ""))
    if kind in RECORDS or (kind, name) in OF_EVERY_SERVER:
        return True
    if kind == "PriorityClass":
        return name.startswith("system-")
    if kind == "Secret":
        return document.get("type") == TOKEN
    return BOOTSTRAPPING in (metadata.get("labels") or {})


def _clean_annotations(metadata: Document) -> None:
    annotations = metadata.get("annotations")
    if not isinstance(annotations, dict):
        return
    kept = {key: value for key, value in annotations.items() if not _is_result(key)}
    if kept:
        metadata["annotations"] = kept
    else:
        del metadata["annotations"]


def _is_result(key: object) -> bool:
    return isinstance(key, str) and (key.startswith(RESULTS) or key == ABSENT_OWNERS)
