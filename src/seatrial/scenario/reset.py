"""Wipes the store at the start of a scenario: earlier objects must not change its result.

Scenarios, the system namespaces with their ServiceAccounts and tokens and system PriorityClasses stay. Of definitions,
RBAC, webhooks and Stages those stay that no Scenario created: a Scenario leaves an annotation on such objects, so that
this is known after a restart and after the Scenario was deleted. Everything else goes, custom resources too, whatever
finalizers it has.
"""

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.scenario.cluster import SYSTEM_NAMESPACES, furnish
from seatrial.scenario.spec.kind import CREATED_BY, SCENARIO
from seatrial.store import Store, Stored

KEPT_GROUPS = frozenset(
    {
        "rbac.authorization.k8s.io",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "flowcontrol.apiserver.k8s.io",
    }
)
KEPT_KINDS = frozenset({("kwok.x-k8s.io", "Stage"), ("kwok.x-k8s.io", "ClusterStage")})
PUBLISHED = frozenset(
    {
        "kube-root-ca.crt",
        "extension-apiserver-authentication",
        "kube-apiserver-legacy-service-account-token-tracking",
    }
)
DEFINITIONS = ("apiextensions.k8s.io", "CustomResourceDefinition")
_CREATED_BY = CREATED_BY.encode()
TOKEN = b'"kubernetes.io/service-account-token"'


def wipe(store: Store, writer: str) -> int:
    """Remove everything that must not stay; returns how many objects were removed."""
    gone = 0
    kinds: dict[tuple[str, str], Kind] = {}
    for kind in store.kinds:
        kinds.setdefault(kind.group_kind, kind)
    # Definitions come last: without its definition a custom resource could not be removed.
    for kind in sorted(kinds.values(), key=lambda kind: kind.group_kind == DEFINITIONS):
        for stored in list(store.index(kind).all("")):
            if not stays(stored):
                store.remove(stored, stored.document(), writer=writer)
                gone += 1
    furnish(store)
    return gone


def outlasts_wipes(kind: Kind) -> bool:
    """Whether objects of a kind stay unless a Scenario created them."""
    return kind.group in KEPT_GROUPS or kind.group_kind in KEPT_KINDS


def mark(document: Document) -> Document:
    """An object that a Scenario creates, with the annotation that lets the next wipe remove it."""
    metadata = document.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), CREATED_BY: "scenario"}
    return {**document, "metadata": {**metadata, "annotations": annotations}}


def stays(stored: Stored) -> bool:
    """Whether a wipe leaves an object: it is one of those that every cluster has, or the user's."""
    if outlasts_wipes(stored.kind):
        return _CREATED_BY not in stored.data or CREATED_BY not in (_metadata(stored).get("annotations") or {})
    match stored.kind.group_kind:
        case SCENARIO.group_kind:
            return True
        case ("", "Namespace"):
            return stored.name in SYSTEM_NAMESPACES
        case ("", "ServiceAccount"):
            return stored.namespace in SYSTEM_NAMESPACES
        case ("", "Secret"):
            return stored.namespace in SYSTEM_NAMESPACES and TOKEN in stored.data
        case ("scheduling.k8s.io", "PriorityClass"):
            return stored.name.startswith("system-")
        case ("", "ConfigMap"):
            return stored.name in PUBLISHED and stored.namespace in SYSTEM_NAMESPACES
        case ("", "Service") | ("", "Endpoints") | ("discovery.k8s.io", "EndpointSlice"):
            return (stored.namespace, stored.name) == ("default", "kubernetes")
        case ("networking.k8s.io", "ServiceCIDR"):
            return stored.name == "kubernetes"
    return False


def _metadata(stored: Stored) -> Document:
    metadata: Document = stored.document()["metadata"]
    return metadata
