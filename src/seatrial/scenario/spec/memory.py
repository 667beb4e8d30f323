"""Estimates the memory that the objects of a scenario will take, before they are created.

The estimate is rough and meant for counts that are wrong by orders of magnitude: an object costs its document a few
times over (the plan, the store, the timeline) and what controllers and the scheduler keep of it.
"""

from collections.abc import Iterable

import msgspec

from seatrial.model.documents import Document, encode
from seatrial.model.errors import ConfigError
from seatrial.scenario.spec.kind import Generator

COPIES = 6
"""How often a document is kept, in one form or another."""
PER_OBJECT = 24_000
"""Bytes that an object takes in addition to its document."""
COUNTS = ("replicas", "parallelism", "completions")
"""Fields of a workload's spec that say how many pods it makes."""


def check_memory(spec: Document, operations: Iterable[Document], available: int) -> None:
    """Raise ConfigError if the objects of a scenario do not fit into `available` bytes; it names the largest count."""
    needed, largest, where = 0, 0, ""
    for field, count, made in _counts(spec, operations):
        size = count * made
        needed += size
        if size > largest:
            largest, where = size, field
    if needed > available:
        why = f"the scenario would need about {_gib(needed)} GiB of memory, and {_gib(available)} GiB are free"
        raise ConfigError("", where, f"{why}; lower the count, or use --force to try it all the same")


def _counts(spec: Document, operations: Iterable[Document]) -> Iterable[tuple[str, int, int]]:
    """Field, number and bytes of objects: those of generators, and the pods of workloads."""
    for position, document in enumerate(spec.get("generators") or ()):
        generator = msgspec.convert(document, Generator)
        body = generator.create_operation or generator.patch_operation or {}
        count, size = generator.count or 1, COPIES * len(encode(body)) + PER_OBJECT
        yield f"spec.generators[{position}].count", count, size
        name, pods = _workload(body.get("object"))
        if pods:
            yield f"spec.generators[{position}].createOperation.object.spec.{name}", count * pods, size
    for position, operation in enumerate(operations):
        body = operation.get("createOperation") or {} if isinstance(operation, dict) else {}
        name, pods = _workload(body.get("object") if isinstance(body, dict) else None)
        if pods:
            field = f"spec.operations[{position}].createOperation.object.spec.{name}"
            yield field, pods, COPIES * len(encode(body)) + PER_OBJECT


def _workload(document: object) -> tuple[str, int]:
    """The field that says how many pods a workload makes, and the number."""
    spec = document.get("spec") if isinstance(document, dict) else None
    if not isinstance(spec, dict) or "template" not in spec:
        return "", 0
    found = [(name, spec[name]) for name in COUNTS if type(spec.get(name)) is int]
    return max(found, key=lambda each: each[1], default=("", 0))


def _gib(size: int) -> str:
    return f"{size / (1 << 30):,.1f}"
