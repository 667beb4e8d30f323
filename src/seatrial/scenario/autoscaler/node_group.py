"""NodeGroup: a set of equal nodes that an autoscaler may add to and take from."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from seatrial.model.documents import Document
from seatrial.model.durations import parse_duration
from seatrial.model.kind_declaration import Column, Descriptions, Part, Resource, custom_resource_definition, kind
from seatrial.scenario.spec.kind import API_VERSION
from seatrial.store import Store

NODE_GROUP = "seatrial.dev/node-group"
"""The label of a node that names its group."""
PRICE = "seatrial.dev/price-per-hour"
HOSTNAME = "kubernetes.io/hostname"
Size = Annotated[int, msgspec.Meta(ge=0)]


class NodeTemplate(Part):
    """What every node of a group looks like."""

    capacity: dict[str, Any]
    allocatable: dict[str, Any] | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    taints: list[dict[str, Any]] | None = None


class NodeGroupSpec(Part):
    """The nodes of a group, and how many there may be."""

    template: NodeTemplate
    max_size: Size
    min_size: Size = 0
    price_per_hour: float | None = None
    startup_delay: str = "0s"
    priority: int = 0
    selector: dict[str, str] | None = None


@kind(API_VERSION, plural="nodegroups", namespaced=False)
class NodeGroup(Resource, kw_only=True):
    """A set of equal nodes with a smallest and a largest size."""

    spec: NodeGroupSpec

    columns = (
        Column("Min", ".spec.minSize", "integer"),
        Column("Max", ".spec.maxSize", "integer"),
        Column("Price", ".spec.pricePerHour", "number"),
        Column.age(),
    )

    @property
    def name(self) -> str:
        name: str = self.metadata["name"]
        return name

    @property
    def startup_delay(self) -> int:
        return parse_duration(self.spec.startup_delay)

    def has(self, labels: Mapping[str, str]) -> bool:
        """Whether a node with these labels belongs to the group."""
        if NODE_GROUP in labels:
            return labels[NODE_GROUP] == self.name
        wanted = self.spec.selector
        return bool(wanted) and all(labels.get(key) == value for key, value in (wanted or {}).items())

    def node(self, name: str) -> Document:
        """A new node of the group."""
        template = self.spec.template
        labels = {HOSTNAME: name, **(self.spec.selector or {}), **(template.labels or {}), NODE_GROUP: self.name}
        if self.spec.price_per_hour is not None:
            labels[PRICE] = f"{self.spec.price_per_hour:g}"
        room = template.allocatable or template.capacity
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels, "annotations": dict(template.annotations or {})},
            # In one order of fields, whatever that of the file: patches of the taints repeat it.
            "spec": {"taints": [dict(sorted(taint.items())) for taint in template.taints or ()]},
            "status": {"capacity": template.capacity, "allocatable": room},
        }


DESCRIPTIONS: Descriptions = {
    NodeGroup: {"spec": "The nodes of the group, and how many there may be."},
    NodeGroupSpec: {
        "template": "What every node of the group looks like.",
        "maxSize": "The largest number of nodes.",
        "minSize": "The number of nodes below which the group does not shrink; it is not filled up to it.",
        "pricePerHour": "What a node costs in an hour, for the expander price and the measure node_groups.",
        "startupDelay": "Virtual time from the decision to a node that takes pods, for example 90s.",
        "priority": "For the expander priority: the group with the highest is taken.",
        "selector": "Labels of nodes that belong to the group besides those that were made for it.",
    },
    NodeTemplate: {
        "capacity": "Resources of a node by name, as in the status of a Node.",
        "allocatable": "Resources that pods may request; the capacity, unless given.",
        "labels": "Labels of a node.",
        "annotations": "Annotations of a node.",
        "taints": "Taints of a node, as in its spec.",
    },
}


def install_node_groups(store: Store) -> None:
    """Serve NodeGroups."""
    definitions = store.kinds.served("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    document = custom_resource_definition(NodeGroup, DESCRIPTIONS)
    if store.find(definitions, document["metadata"]["name"]) is None:
        store.create(definitions, document, writer="system")
