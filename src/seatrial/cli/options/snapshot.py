"""The options of commands that begin with a cluster: --snapshot, --unbind and --unbind-order."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.model.errors import ConfigError
from seatrial.store.snapshots import UNBIND_NONE, Unbind, UnbindOrder

if TYPE_CHECKING:
    from seatrial.store.snapshots import Snapshot

KINDS = {
    "v1": (
        "namespaces", "nodes", "pods", "services", "serviceaccounts", "persistentvolumes", "persistentvolumeclaims",
        "replicationcontrollers", "resourcequotas", "limitranges",
    ),
    "scheduling.k8s.io/v1": ("priorityclasses",),
    "storage.k8s.io/v1": ("storageclasses", "csinodes", "csidrivers", "csistoragecapacities"),
    "policy/v1": ("poddisruptionbudgets",),
    "apps/v1": ("deployments", "replicasets", "statefulsets", "daemonsets", "controllerrevisions"),
    "batch/v1": ("jobs", "cronjobs"),
    "autoscaling/v2": ("horizontalpodautoscalers",),
    "node.k8s.io/v1": ("runtimeclasses",),
}  # fmt: skip
"""The kinds that a scheduler reads, and the kinds that create pods; every cluster serves them."""
DEVICE_KINDS = {"resource.k8s.io/v1": ("deviceclasses", "resourceslices", "resourceclaims", "resourceclaimtemplates")}
"""Kinds of dynamic resource allocation, which clusters before v1.34 do not serve."""
DUMP = f"kubectl get {','.join(plural for plurals in KINDS.values() for plural in plurals)} -A -o yaml > cluster.yaml"
SnapshotFile = Annotated[
    Path | None,
    typer.Option(help="A cluster to begin with: of `seatrial snapshot`, `kubectl get -o yaml`, or an export."),
]
UnbindPods = Annotated[
    Unbind,
    typer.Option(
        help="Pods of the snapshot that lose their nodes and are scheduled again: `workloads` those with a controller "
        "outside kube-system, `all` the others too. Pods of DaemonSets and mirror pods stay."
    ),
]
OrderOfPods = Annotated[UnbindOrder, typer.Option(help="The order in which --unbind schedules them again.")]


PricesFile = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        help="What nodes of the snapshot cost: `prices: [{instanceType, capacityType?, zone?, pricePerHour}]`.",
    ),
]
WithVolcano = Annotated[
    bool, typer.Option("--volcano", help="Volcano schedules, too; a snapshot with its kinds or pods has it anyway.")
]
PoolLabel = Annotated[str, typer.Option(help="The label that names a node's pool; by default the usual ones.")]


def read_cluster(
    path: Path | None,
    which: Unbind,
    order: UnbindOrder,
    seed: int = 0,
    *,
    quiet: bool = False,
    alone: bool = False,
    prices: Path | None = None,
) -> "Snapshot":
    """The cluster of the options; what is missing in it is said on standard error.

    A cluster that is played `alone`, without a scenario, has objects.
    """
    from seatrial.store.snapshots import Snapshot, read_prices

    if path is None:
        if which != UNBIND_NONE:
            raise ConfigError("", "--unbind", "goes with --snapshot, whose pods lose their nodes")
        if prices is not None:
            raise ConfigError("", "--prices", "goes with --snapshot, whose nodes have the prices")
        return Snapshot()
    found = Snapshot.read(path, which, order, seed)
    if prices is not None:
        found = found.with_prices(read_prices(prices))
    if alone and not found:
        raise ConfigError(str(path), "", "no objects found: look whether `kubectl get` was refused, or name a scenario")
    if not found:
        typer.echo(f"seatrial: warning: {path}: no objects found; the run begins with an empty cluster", err=True)
    for note in found.notes if not quiet else ():
        typer.echo(f"seatrial: {path}: {note}", err=True)
    return found


def name_of(path: Path | None) -> str:
    """The name of a scenario that only has a snapshot: that of its file, as far as a name may hold it."""
    stem = re.sub(r"[^a-z0-9-]+", "-", (path.stem if path is not None else "").lower()).strip("-")
    return stem[:63].rstrip("-") or "snapshot"
