"""Snapshots: a whole cluster in and out. A cluster that was at rest stays at rest.

The stages of a snapshot, each in a module: `formats` reads files, `cleaning` drops what belongs to the old server,
`references` names what is referred to and missing, `completion` and `revisions` make what can be made of it, `times`
keeps ages, `autoscaling` the usage of pods, `unbinding` takes nodes from pods, `loading` stores the objects, and
`restoring` does all of it.
"""

from seatrial.store.snapshots.autoscaling import USAGE
from seatrial.store.snapshots.cleaning import clean
from seatrial.store.snapshots.formats import OBJECTS, objects_of, read_objects, read_snapshot
from seatrial.store.snapshots.loading import export, exported, load
from seatrial.store.snapshots.manifests import manifests_of
from seatrial.store.snapshots.owners import ABSENT_OWNERS, has_absent_owner
from seatrial.store.snapshots.prices import price_of, read_prices
from seatrial.store.snapshots.references import missing_references, plural
from seatrial.store.snapshots.restoring import SnapshotError, prepare, restore_cluster, settle
from seatrial.store.snapshots.snapshot import Snapshot
from seatrial.store.snapshots.unbinding import UNBIND_NONE, Unbind, UnbindOrder
