"""Wipes the store at the start of a scenario: earlier objects must not change its result.

Scenarios, the system namespaces with their ServiceAccounts and tokens, system PriorityClasses, definitions, RBAC,
webhooks and Stages stay; everything else goes, custom resources too, whatever finalizers it has.
"""

from seatrial.scenario.cluster import SYSTEM_NAMESPACES, furnish
from seatrial.scenario.spec.kind import SCENARIO
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
KEPT_KINDS = frozenset({SCENARIO.group_kind, ("kwok.x-k8s.io", "Stage"), ("kwok.x-k8s.io", "ClusterStage")})
PUBLISHED = frozenset({"kube-root-ca.crt", "extension-apiserver-authentication"})
TOKEN = b'"kubernetes.io/service-account-token"'


def wipe(store: Store, writer: str) -> int:
    """Remove everything that must not stay; returns how many objects were removed."""
    gone = 0
    seen: set[tuple[str, str]] = set()
    for kind in list(store.kinds):
        if kind.group_kind in seen or kind.group in KEPT_GROUPS or kind.group_kind in KEPT_KINDS:
            continue
        seen.add(kind.group_kind)
        for stored in list(store.index(kind).all("")):
            if not stays(stored):
                store.remove(stored, stored.document(), writer=writer)
                gone += 1
    furnish(store)
    return gone


def stays(stored: Stored) -> bool:
    """Whether an object of a kind that is wiped is one of those that every cluster has."""
    match stored.kind.group_kind:
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
