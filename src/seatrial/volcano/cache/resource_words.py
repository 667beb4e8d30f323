"""Amounts of resources in the words of a manifest: `cpu 500m`, `cpu 1980.8`, `memory 4Gi`, `nvidia.com/gpu 2`."""

from math import ceil

from seatrial.model.quantity import BINARY_SI, Quantity
from seatrial.volcano.cache.resource import CPU, MAX_FLOAT, MAX_INT64, MEMORY, PODS, Resource

MEBI = 1 << 20
UNLIMITED = "unlimited"


def quantity(name: str, amount: float) -> str:
    """An amount of one resource in Volcano's units; a broken one is rounded up, memory to whole Mi.

    Thousandths (`800m`) are for amounts below 1 alone; more are written as decimals.
    """
    if amount in (MAX_FLOAT, MAX_INT64):
        return UNLIMITED
    whole = ceil(round(amount, 3))
    if name == MEMORY:
        exact = whole if whole == amount or abs(whole) < MEBI else ceil(whole / MEBI) * MEBI
        return str(Quantity(exact, 0, BINARY_SI))
    if name == PODS:
        return str(Quantity(whole))
    return f"{whole / 1000:.3f}".rstrip("0") if abs(whole) > 1000 and whole % 1000 else str(Quantity.milli(whole))


def quantities(amount: Resource) -> dict[str, str]:
    """All amounts but those that are 0."""
    names = (CPU, MEMORY, *sorted(amount.scalars or ()))
    return {name: quantity(name, amount.get(name)) for name in names if round(amount.get(name), 3)}


def listed(amount: Resource) -> str:
    """The amounts of a request in one line, without the number of pods."""
    found = [f"{name} {text}" for name, text in quantities(amount).items() if name != PODS]
    return ", ".join(found) or "nothing"
