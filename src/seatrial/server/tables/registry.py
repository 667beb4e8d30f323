"""The printer columns of a kind."""

from functools import partial

from seatrial.clock import Clock
from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest
from seatrial.model.kinds import Kind
from seatrial.model.times import parse_time, to_time
from seatrial.server.tables.custom import custom_columns
from seatrial.server.tables.table import Table
from seatrial.store import Store, Stored
from seatrial.store.printers import Columns, cells, plain
from seatrial.store.registry import strategy_of

PLAIN = plain("Name Age", lambda document: [])


class Tables:
    """The tables of all kinds that are served."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def table(self, kind: Kind, include_object: str) -> Table:
        """The table of a kind; `include_object` is None, Metadata or Object."""
        if include_object not in ("", "None", "Metadata", "Object"):
            raise BadRequest(f"unrecognized includeObject value: {include_object!r}")
        columns = self._custom_columns(kind) if kind.custom else strategy_of(kind).columns or PLAIN
        return Table(columns, partial(self._now, self._store.clock_of(kind)), include_object or "Metadata")

    @staticmethod
    def _now(clock: Clock, document: Document) -> int:
        """The time that an object's age is counted to: objects that a scenario left are of its time, not of ours."""
        now = clock.now()
        created = (document.get("metadata") or {}).get("creationTimestamp") or ""
        return now if created <= to_time(now) else max(clock.simulated_until, parse_time(created))

    def selectable_fields(self, kind: Kind) -> tuple[str, ...]:
        """The fields that a custom kind lets selectors name."""
        definition = self._definition(kind) if kind.custom else None
        versions = cells.items(definition.document(), "spec", "versions") if definition is not None else []
        version: Document = next((v for v in versions if v.get("name") == kind.version), {})
        return tuple(str(field.get("jsonPath")) for field in cells.items(version, "selectableFields"))

    def _definition(self, kind: Kind) -> Stored | None:
        definitions = self._store.kinds.named("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        return self._store.find(definitions, kind.resource) if definitions is not None else None

    def _custom_columns(self, kind: Kind) -> Columns:
        if kind.group_kind in self._store.definitions.printers:
            return self._store.definitions.printers[kind.group_kind]
        definition = self._definition(kind)
        return PLAIN if definition is None else custom_columns(definition.document(), kind)
