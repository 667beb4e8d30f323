"""An empty cluster for one run: a store with the objects that every cluster has."""

from collections.abc import Collection

from seatrial.clock import Clock
from seatrial.model.builtin import builtin_kinds, newer_kinds
from seatrial.model.defaults import GatedFields
from seatrial.model.documents import Document
from seatrial.scheduler.versions import DEFAULT, Version
from seatrial.store import Identities, SeededIdentities, Store
from seatrial.store.admission import StandardAdmission
from seatrial.store.mvcc import History, Packing

SYSTEM_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
SYSTEM_PRIORITIES = {
    "system-cluster-critical": (2_000_000_000, "Used for system critical pods that must run in the cluster."),
    "system-node-critical": (2_000_001_000, "Used for system critical pods that must not be moved from their node."),
}
SYSTEM = "system"
REVISIONS_KEPT, BYTES_KEPT = 10_000, 16 * 1024 * 1024
"""Length of the history: short, since no watcher of a run falls far behind."""


def fresh_store(
    clock: Clock | None = None, seed: int = 0, *, watched: bool = True, version: Version = DEFAULT
) -> Store:
    """A store in virtual time, with what every cluster has; no history where nothing watches it."""
    history = History(REVISIONS_KEPT if watched else 0, BYTES_KEPT)
    store = empty_store(clock or Clock(), SeededIdentities(seed), history=history)
    follow(store, version)
    furnish(store)
    return store


def follow(store: Store, version: Version) -> None:
    """Let a store serve the kinds and the fields of a version, and report its release."""
    store.release, store.gated_fields = version.release, GatedFields(version.defaults)
    for name in version.missing_kinds:
        store.kinds.remove(store.kinds.served(*name))
    for name in version.added_kinds:
        store.kinds.add(newer_kinds()[name])


def empty_store(
    clock: Clock,
    identities: Identities,
    *,
    disabled_plugins: Collection[str] = (),
    history: History | None = None,
    packing: Packing | None = None,
) -> Store:
    """A store of the built-in kinds without an object; `disabled_plugins` are admission plugins."""
    admission = StandardAdmission(disabled_plugins)
    return Store(builtin_kinds(), clock, identities=identities, admission=admission, history=history, packing=packing)


def furnish(store: Store) -> None:
    """Create the objects that every cluster has, where they are missing."""
    for name in SYSTEM_NAMESPACES:
        _create_once(store, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        account = {"name": "default", "namespace": name}
        _create_once(store, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})

    for name, (value, description) in SYSTEM_PRIORITIES.items():
        priority = {"metadata": {"name": name}, "value": value, "description": description}
        _create_once(store, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", **priority})


def _create_once(store: Store, document: Document) -> None:
    kind = store.kinds.served(document["apiVersion"], document["kind"])
    namespace = document["metadata"].get("namespace", "")
    if store.find(kind, document["metadata"]["name"], namespace) is None:
        store.create(kind, document, writer=SYSTEM, namespace=namespace)
