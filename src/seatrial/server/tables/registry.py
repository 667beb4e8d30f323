"""Which columns a kind has."""

from seatrial.model.errors import BadRequest
from seatrial.model.kinds import Kind
from seatrial.server.tables import cells
from seatrial.server.tables.table import Column, Columns, Table
from seatrial.store.store import Store

NAME = Column("Name", format="name")
PLAIN = Columns(
    (NAME, Column("Age")),
    lambda document, now: (cells.name(document), cells.age(document, now)),
)


class Tables:
    """The tables of all kinds that are served."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def table(self, kind: Kind, include_object: str) -> Table:
        """The table of a kind; `include_object` is None, Metadata or Object."""
        if include_object not in ("", "None", "Metadata", "Object"):
            raise BadRequest(f"unrecognized includeObject value: {include_object!r}")
        return Table(PLAIN, self._store.clock.now, include_object or "Metadata")
