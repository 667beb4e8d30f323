"""Carries out createOperations that differ in nothing but the name without decoding each of them.

A scenario of twenty thousand pods lists few different ones. With the second operation of a shape the creation of its
objects is prepared; from the third on the name is cut out of the encoded operation, and no more of it is read.
"""

from typing import NamedTuple

from seatrial.model.errors import StatusError
from seatrial.scenario.engine.evictions import is_eviction
from seatrial.scenario.engine.operations import body_of, creation_of, refusal, writer_of
from seatrial.scenario.spec.annotations import mentions
from seatrial.scenario.spec.operation_ids import Planned
from seatrial.store import Memo, PreparedCreate, Store, Stored

SHAPES_KEPT = 4096
LONGEST_BODY = 64 * 1024
BODY = b'"createOperation":'
NAME = b'"metadata":{"name":'
GAP = b'"\0"'


class Known(NamedTuple):
    """An operation of a known shape."""

    body: bytes
    name: str
    shape: "Shape"


class Shape(NamedTuple):
    """The objects of operations that are equal but for the name."""

    create: PreparedCreate
    named: tuple[bool, ...]
    """Which of its fields have the name as their value."""

    def values(self, name: str) -> list[object]:
        if not self.named:
            return []
        fields = zip(self.create.fields, self.named, strict=True)
        return [name if is_name else field.value for field, is_name in fields]


class PreparedCreates:
    """The shapes of the createOperations of one run."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._shapes: Memo[bytes, Shape | None] = Memo(SHAPES_KEPT)

    def find(self, planned: Planned) -> Known | None:
        """The operation where its shape is known; None where it must be decoded."""
        body, name = _cut(planned)
        shape = self._shapes.get(body.replace(name, GAP)) if name else None
        return None if shape is None else Known(body, name[1:-1].decode(), shape)

    def carry_out(self, planned: Planned, known: Known) -> Stored | None:
        """Create the object; None where the store must be given the whole document."""
        shape = known.shape
        try:
            values = shape.values(known.name)
            return self._store.create_prepared(shape.create, known.name, values, writer=writer_of(planned))
        except StatusError as error:
            raise refusal(planned, error) from error

    def learn(self, planned: Planned) -> None:
        """Note the shape of an operation that was carried out, when it is the second one."""
        body, name = _cut(planned)
        if not name or mentions(body):
            return
        key = body.replace(name, GAP)
        self._shapes[key] = self._shape(planned, body, name) if key in self._shapes else None

    def _shape(self, planned: Planned, body: bytes, name: bytes) -> Shape | None:
        operation, own = body_of(planned)
        if operation.create_operation is None or own != body or is_eviction(operation.create_operation.object):
            return None
        kind, document, namespace, options = creation_of(self._store, planned, operation.create_operation)
        create = self._store.prepare_create(kind, document, namespace, options)
        text = name[1:-1].decode()
        if create is None or document["metadata"].get("name") != text:
            return None
        named = tuple(field.value == text for field in create.fields)
        # Where the name has another meaning, too, the objects differ in more than the name.
        return Shape(create, named) if body.count(name) == 1 + sum(named) else None


def _cut(planned: Planned) -> tuple[bytes, bytes]:
    """The body of a createOperation, which ends the operation, and the quoted name in it (empty if it has no name)."""
    data = planned.data
    start = data.find(BODY)
    if start < 0 or len(data) > LONGEST_BODY:
        return b"", b""
    body = data[start + len(BODY) : -1]
    begin = body.find(NAME) + len(NAME)
    end = body.find(b'"', begin + 1) + 1
    return body, body[begin:end] if begin >= len(NAME) and body[begin : begin + 1] == b'"' else b""
