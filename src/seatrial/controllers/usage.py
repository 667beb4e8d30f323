"""Resource usage of pods and nodes, for `kubectl top` and the autoscaler: their requests, or an annotation's value.

`simulation.kube-scheduler-simulator.x-k8s.io/usage: cpu=250m,memory=1Gi` on a pod (or its template) gives the pod's
usage as a whole; it is shared among its containers in proportion to their requests. Pure: documents in, documents of
metrics.k8s.io/v1beta1 out.
"""

from collections.abc import Iterable

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity
from seatrial.model.times import to_time
from seatrial.store.snapshots import USAGE

RESOURCES = ("cpu", "memory")
API_VERSION = "metrics.k8s.io/v1beta1"
WINDOW = "30s"


def said_usage(annotations: dict[str, str]) -> dict[str, Quantity]:
    """The usage that a pod's annotation gives; what cannot be read is left out."""
    found = {}
    for part in annotations.get(USAGE, "").split(","):
        try:
            name, amount = _said(part)
        except ValueError:
            continue
        found[name] = amount
    return {name: found[name] for name in RESOURCES if name in found}


def parse_usage(text: str) -> dict[str, Quantity]:
    """The usage in an annotation's value; ValueError where a part of it cannot be read."""
    return dict(_said(part) for part in text.split(","))


def _said(part: str) -> tuple[str, Quantity]:
    name, _, amount = (piece.strip() for piece in part.partition("="))
    if name not in RESOURCES:
        raise ValueError(f"expected cpu=QUANTITY,memory=QUANTITY, got {part!r}")
    try:
        return name, Quantity.parse(amount)
    except ValueError as error:
        raise ValueError(f"{name}: {amount!r} is no quantity") from error


def container_usage(pod: Document) -> dict[str, dict[str, int]]:
    """Milli-units of cpu and memory that each container of a running pod uses."""
    containers: list[Document] = pod["spec"].get("containers", [])
    usage = {container["name"]: _requested(container) for container in containers}
    for name, total in said_usage(pod["metadata"].get("annotations", {})).items():
        shares = _shared(total.milli_value(), [usage[container["name"]][name] for container in containers])
        for container, share in zip(containers, shares, strict=True):
            usage[container["name"]][name] = share
    return usage


def pod_usage(pod: Document) -> dict[str, int]:
    """Milli-units of cpu and memory that a pod uses; nothing unless it runs."""
    if pod.get("status", {}).get("phase") != "Running":
        return dict.fromkeys(RESOURCES, 0)
    return {name: sum(used[name] for used in container_usage(pod).values()) for name in RESOURCES}


def pod_metrics(pod: Document, now: int) -> Document | None:
    """The PodMetrics of a pod; None where it does not run."""
    if pod.get("status", {}).get("phase") != "Running":
        return None
    containers = [{"name": name, "usage": _shown(used)} for name, used in container_usage(pod).items()]
    return _metrics("PodMetrics", pod, now) | {"containers": containers}


def node_metrics(node: Document, pods: Iterable[Document], now: int) -> Document:
    """The NodeMetrics of a node with these pods on it."""
    used = dict.fromkeys(RESOURCES, 0)
    for pod in pods:
        for name, amount in pod_usage(pod).items():
            used[name] += amount
    return _metrics("NodeMetrics", node, now) | {"usage": _shown(used)}


def _metrics(kind: str, document: Document, now: int) -> Document:
    meta = document["metadata"]
    kept = {key: meta[key] for key in ("name", "namespace", "labels") if key in meta}
    shown = {"metadata": kept | {"creationTimestamp": to_time(now)}, "timestamp": to_time(now), "window": WINDOW}
    return {"kind": kind, "apiVersion": API_VERSION} | shown


def _requested(container: Document) -> dict[str, int]:
    requests = container.get("resources", {}).get("requests", {})
    return {name: Quantity.parse(requests.get(name, "0")).milli_value() for name in RESOURCES}


def _shared(total: int, weights: list[int]) -> list[int]:
    """A total in proportion to weights, evenly where all are zero; the first gets what is left over."""
    if not weights:
        return []
    weights = weights if any(weights) else [1] * len(weights)
    shares = [total * weight // sum(weights) for weight in weights]
    shares[0] += total - sum(shares)
    return shares


def _shown(used: dict[str, int]) -> dict[str, str]:
    return {"cpu": f"{used['cpu']}m" if used["cpu"] else "0", "memory": f"{-(-used['memory'] // 1000 // 1024)}Ki"}
