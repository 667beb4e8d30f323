"""Numbers of a StatefulSet's pods. Pure."""

from seatrial.model.documents import Document


def ordinal_of(name: str, set_name: str) -> int | None:
    """The number at the end of a pod's name, if the rest is the set's."""
    prefix, _, number = name.rpartition("-")
    return int(number) if prefix == set_name and number.isdecimal() else None


def ordinals(owner: Document) -> range:
    """The numbers that a set's pods have."""
    first: int = (owner["spec"].get("ordinals") or {}).get("start", 0)
    return range(first, first + owner["spec"].get("replicas", 1))
