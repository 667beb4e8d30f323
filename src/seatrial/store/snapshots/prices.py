"""Prices of nodes from a file: they become the label that measures of cost read.

A node whose price is not known gets no label: unknown stays unknown.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError
from seatrial.store.input_files import read_documents

PRICE = "seatrial.dev/price-per-hour"
INSTANCE_TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
CAPACITY_TYPES = (
    "karpenter.sh/capacity-type", "eks.amazonaws.com/capacityType", "cloud.google.com/gke-spot",
    "kubernetes.azure.com/scalesetpriority",
)  # fmt: skip
ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")


class Price(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """What a sort of node costs; a field that is not given stands for any value."""

    instance_type: str
    price_per_hour: float
    capacity_type: str = ""
    zone: str = ""

    @property
    def precision(self) -> int:
        return bool(self.capacity_type) + bool(self.zone)


class Prices(msgspec.Struct, forbid_unknown_fields=True):
    """A file of prices."""

    prices: list[Price]
    currency: str = ""

    def of(self, labels: Mapping[str, str]) -> float | None:
        """The price of a node an hour, by the entry that says most about it; None where none is about it."""
        sort, zone = _first(labels, INSTANCE_TYPES), _first(labels, ZONES)
        capacity = _capacity(labels)
        found = [
            price for price in self.prices
            if price.instance_type == sort and price.zone in ("", zone)
            and price.capacity_type.lower().replace("_", "-") in ("", capacity)
        ]  # fmt: skip
        return max(found, key=lambda price: price.precision).price_per_hour if found else None


def read_prices(path: Path) -> Prices:
    """The prices of a file; ConfigError says what is wrong."""
    documents = read_documents(path)
    expected = "expected `prices: [{instanceType: m5.large, pricePerHour: 0.107}]` with numbers an hour"
    try:
        found = msgspec.convert(documents[0] if len(documents) == 1 else None, Prices)
    except msgspec.ValidationError as error:
        raise ConfigError(str(path), "prices", f"{error}: {expected}") from error
    for price in found.prices:
        if price.price_per_hour < 0:
            raise ConfigError(
                str(path), "prices", f"{price.instance_type}: {price.price_per_hour} is negative: {expected}"
            )
    return found


def price_of(node: Document, prices: Prices | None) -> float | None:
    """What a node costs an hour: by its label, else by the file; None where neither knows it."""
    labels: dict[str, str] = node["metadata"].get("labels") or {}
    if PRICE in labels:
        try:
            return float(labels[PRICE])
        except ValueError:
            return None
    return prices.of(labels) if prices is not None else None


def priced(documents: Sequence[Document], prices: Prices) -> list[Document]:
    """The objects of a snapshot, nodes with the label of their price; one that a node has already stays."""
    found = []
    for document in documents:
        labels: dict[str, str] = document["metadata"].get("labels") or {}
        price = prices.of(labels) if document["kind"] == "Node" and PRICE not in labels else None
        if price is not None:
            metadata = {**document["metadata"], "labels": {**labels, PRICE: f"{price:g}"}}
            document = {**document, "metadata": metadata}
        found.append(document)
    return found


def _first(labels: Mapping[str, str], names: Sequence[str]) -> str:
    return next((labels[name] for name in names if name in labels), "")


def _capacity(labels: Mapping[str, str]) -> str:
    """The capacity type of a node in Karpenter's words: `on-demand` or `spot`."""
    said = _first(labels, CAPACITY_TYPES).lower().replace("_", "-")
    return {"true": "spot", "regular": "on-demand"}.get(said, said)
