"""Volcano's kinds, as its CustomResourceDefinitions say.

The definitions are those of volcano.sh/volcano v1.15.1 without their prose, in a data file that `tools/volcano/update`
writes. PodGroup has no status subresource there, so a write of its status is a write of the object.
"""

import zlib
from importlib.resources import files

import orjson

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.store import Store

BATCH = "batch.volcano.sh/v1alpha1"
BUS = "bus.volcano.sh/v1alpha1"
FLOW = "flow.volcano.sh/v1alpha1"
NODEINFO = "nodeinfo.volcano.sh/v1alpha1"
SCHEDULING = "scheduling.volcano.sh/v1beta1"
TOPOLOGY = "topology.volcano.sh/v1alpha1"

JOB = (BATCH, "Job")
CRON_JOB = (BATCH, "CronJob")
JOB_FLOW = (FLOW, "JobFlow")
JOB_TEMPLATE = (FLOW, "JobTemplate")
COMMAND = (BUS, "Command")
NUMATOPOLOGY = (NODEINFO, "Numatopology")
POD_GROUP = (SCHEDULING, "PodGroup")
QUEUE = (SCHEDULING, "Queue")
HYPER_NODE = (TOPOLOGY, "HyperNode")

SCHEDULER_NAME = "volcano"
DEFAULT_QUEUE = "default"
ROOT_QUEUE = "root"
WRITER = "volcano"


def definitions() -> list[Document]:
    """The CustomResourceDefinitions of all kinds."""
    found: list[Document] = orjson.loads(zlib.decompress((files(__package__) / "definitions.json.z").read_bytes()))
    return found


def kind_of(store: Store, named: tuple[str, str]) -> Kind:
    """A kind of these in a store that serves them."""
    return store.kinds.served(*named)
