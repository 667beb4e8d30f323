"""Short ways to say what devices there are and what a claim asks for."""

from typing import Any

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.dra.allocator import Allocator
from seatrial.scheduler.dra.pools import Inventory
from seatrial.scheduler.dra.state import state_of

DRIVER = "gpu.example.com"


def node(name: str = "n1", **labels: str) -> NodeInfo:
    return NodeInfo.read({"metadata": {"name": name, "labels": labels}})


def device(name: str, memory: str = "", taints: list[Document] | None = None, **fields: Any) -> Document:
    """A device; plain keyword values are attributes, documents are fields of the device."""
    kinds = {str: "string", bool: "bool", int: "int"}
    attributes = {key: {kinds[type(value)]: value} for key, value in fields.items() if type(value) in kinds}
    document: Document = {"name": name, "attributes": attributes}
    document |= {key: value for key, value in fields.items() if type(value) not in kinds}
    if memory:
        document["capacity"] = {"memory": {"value": memory}}
    return document | ({"taints": taints} if taints else {})


def pool(*devices: Document, name: str = "", driver: str = DRIVER, node: str = "n1", **spec: Any) -> Document:
    """A pool of one slice; `count`, `generation` and `slice` say otherwise."""
    where = (
        {} if "allNodes" in spec or "nodeSelector" in spec or "perDeviceNodeSelection" in spec else {"nodeName": node}
    )
    identity = {
        "name": name or node,
        "generation": spec.pop("generation", 1),
        "resourceSliceCount": spec.pop("count", 1),
    }
    metadata = {"name": spec.pop("slice", f"{driver}-{name or node}")}
    return {
        "metadata": metadata,
        "spec": {"driver": driver, "pool": identity, "devices": list(devices), **where, **spec},
    }


def request(name: str = "r", count: int = 1, *selectors: str, device_class: str = "gpu", **fields: Any) -> Document:
    return {"name": name, "exactly": one(count, *selectors, device_class=device_class, **fields)}


def one(count: int = 1, *selectors: str, device_class: str = "gpu", **fields: Any) -> Document:
    mode = {"allocationMode": "All"} if count == 0 else {"allocationMode": "ExactCount", "count": count}
    cel = [{"cel": {"expression": text}} for text in selectors]
    return {"deviceClassName": device_class, **mode, **({"selectors": cel} if cel else {}), **fields}


def claim(*requests: Document, name: str = "c", constraints: list[Document] | None = None, **devices: Any) -> Document:
    spec = {"requests": list(requests), **({"constraints": constraints} if constraints else {}), **devices}
    return {"metadata": {"namespace": "default", "name": name, "uid": f"uid-{name}"}, "spec": {"devices": spec}}


CLASSES: dict[str, Document] = {
    "gpu": {
        "metadata": {"name": "gpu"},
        "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]},
    },
    "any": {"metadata": {"name": "any"}, "spec": {}},
}


def allocate(
    slices: list[Document], *claims: Document, taken: list[Document] | None = None, on: NodeInfo | None = None
) -> list[Document] | None:
    """Allocates for claims on a node, some allocations being made already."""
    allocator = Allocator(Inventory(slices), state_of(taken or []), CLASSES.get)
    return allocator.allocate(on or node(), claims)


def picked(allocations: list[Document] | None) -> list[list[str]] | None:
    """The names of the devices, claim by claim."""
    if allocations is None:
        return None
    return [[result["device"] for result in entry["devices"]["results"]] for entry in allocations]
