"""The plan of a scenario: its operations by step, kept encoded until they are carried out.

Twenty thousand pods as dicts would take hundreds of megabytes, so an operation is its JSON and is decoded when it
is carried out. Operations may be added while the scenario runs; those of a past step are ignored and reported.
"""

from bisect import bisect_right, insort
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from seatrial.model.documents import Document, decode, encode
from seatrial.model.errors import ConfigError
from seatrial.scenario.spec.dialect import Dialect, dialect_of
from seatrial.scenario.spec.generators import expand
from seatrial.scenario.spec.kind import Generator
from seatrial.scenario.spec.memory import check_memory
from seatrial.scenario.spec.operation_ids import KnownOperations, Planned, content_of, step_in, with_ids

MOST_OPERATIONS = 10_000_000
"""How many operations a scenario may have with those that its generators make."""


class Plan:
    """The operations of one scenario, in the order of the file inside each step."""

    def __init__(self, dialect: Dialect, operations: Iterable[Planned] = ()) -> None:
        self.dialect = dialect
        self._steps: dict[int, list[Planned]] = {}
        self._order: list[int] = []
        self._known: dict[str, bytes] = {}
        for operation in operations:
            self.add(operation)

    def add(self, operation: Planned) -> None:
        """Put an operation at the end of its step."""
        if operation.step not in self._steps:
            self._steps[operation.step] = []
            insort(self._order, operation.step)
        self._steps[operation.step].append(operation)
        self._known[operation.id] = operation.data

    def knows(self, operation: Planned) -> bool:
        return self._known.get(operation.id) == operation.data

    def has_id(self, id: str) -> bool:
        return id in self._known

    def replace(self, operation: Planned) -> None:
        """Take another version of an operation whose step is still to come."""
        for listed in self._steps.values():
            listed[:] = [other for other in listed if other.id != operation.id]
        self.add(operation)

    def keep(self, ids: Collection[str], current: int) -> None:
        """Drop the operations of coming steps that are not among `ids`."""
        for step, listed in self._steps.items():
            if step > current:
                for operation in listed:
                    if operation.id not in ids:
                        del self._known[operation.id]
                listed[:] = [operation for operation in listed if operation.id in ids]

    def at(self, step: int) -> list[Planned]:
        return self._steps.get(step, [])

    def first(self) -> int | None:
        return self.after(-1)

    def after(self, step: int) -> int | None:
        """The next step that has operations; None where nothing is left to come."""
        position = bisect_right(self._order, step)
        while position < len(self._order) and not self._steps[self._order[position]]:
            position += 1
        return self._order[position] if position < len(self._order) else None

    def last(self) -> int | None:
        """The last step that has operations."""
        return next((step for step in reversed(self._order) if self._steps[step]), None)

    def step_of(self, id: str) -> int | None:
        """The step of a known operation."""
        data = self._known.get(id)
        return None if data is None else step_in(data)

    def ids(self) -> Iterator[str]:
        return iter(self._known)


def expand_and_number(
    document: Document,
    folder: Path | None = None,
    memory: int | None = None,
    known: KnownOperations | None = None,
) -> tuple[Document, list[Planned]]:
    """The document with generators expanded and ids set (its list left out), and the operations of the list.

    The list comes apart from the document so that it is never held as dicts. `memory` is how many bytes the objects
    may take, by an estimate; None is no limit. `known` are the operations of the stored Scenario that is changed: what
    its generators made before is not made twice.
    """
    spec = dict(document.get("spec") or {})
    dialect = dialect_of(spec)
    if memory is not None and not _are_too_many(spec):
        check_memory(spec, spec.get(dialect.listing) or (), memory)
    # Copied: what an encoder returns lies in a larger piece of memory, and there may be very many.
    listed = [bytes(memoryview(encode(item))) for item in spec.get(dialect.listing) or []]
    generators = spec.pop("generators", None) or []
    kept = {content_of(decode(item)) for item in listed} if generators and known is not None else set()
    for position, document_of in enumerate(generators):
        field, generator = f"spec.generators[{position}]", msgspec.convert(document_of, Generator)
        if len(listed) + (generator.count or 0) > MOST_OPERATIONS:
            why = f"a scenario has at most {MOST_OPERATIONS} operations, got {len(listed) + (generator.count or 0)}"
            raise ConfigError("", f"{field}.count", why)
        made = expand(generator, field, folder, discriminated=not dialect.minor_steps)
        listed += made if known is None else (item for item in made if content_of(decode(item)) not in kept)
    spec.pop(dialect.listing, None)
    return {**document, "spec": spec}, with_ids(listed, known)


def _are_too_many(spec: Document) -> bool:
    """Whether a generator makes more operations than any scenario may have, which is refused whatever they need."""
    counts = (generator.get("count") for generator in spec.get("generators") or () if isinstance(generator, dict))
    return any(isinstance(count, int) and count > MOST_OPERATIONS for count in counts)
