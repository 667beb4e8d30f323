"""Reads a Scenario for its run; a large one on another thread, so that a server answers requests meanwhile."""

import threading
from collections.abc import Callable

import msgspec
import orjson

from seatrial.model.documents import Document
from seatrial.model.errors import SeatrialError
from seatrial.scenario.spec.operation_ids import Planned
from seatrial.scenario.spec.plan import expand_and_number
from seatrial.store import Stored

READ_AT_ONCE = 256 * 1024
"""Bytes of a Scenario that is read in a moment."""
Expanded = tuple[Document, list[Planned]]


class ScenarioReader:
    """Reads one Scenario at a time."""

    def __init__(self) -> None:
        self.is_busy = False
        self._revision = 0
        self._found: tuple[Document, Expanded] | SeatrialError | None = None

    def has_read(self, stored: Stored) -> bool:
        """Whether `result` returns in a moment."""
        return stored.size <= READ_AT_ONCE or (self._found is not None and self._revision == stored.revision)

    def read(self, stored: Stored, memory: int | None, wake: Callable[[], object]) -> None:
        """Read a Scenario on another thread; `wake` is called there at the end."""
        self.is_busy, self._revision, self._found = True, stored.revision, None

        def work() -> None:
            try:
                self._found = _read(stored, memory)
            except SeatrialError as error:
                self._found = error
            finally:
                self.is_busy = False
                wake()

        threading.Thread(target=work, name="scenario-reader", daemon=True).start()

    def result(self, stored: Stored, memory: int | None) -> tuple[Document, Expanded]:
        """The Scenario without its status, and what `expand_and_number` makes of it; SeatrialError where it cannot."""
        found, self._found = self._found, None
        if found is None or self._revision != stored.revision:
            return _read(stored, memory)
        if isinstance(found, SeatrialError):
            raise found
        return found


def _read(stored: Stored, memory: int | None) -> tuple[Document, Expanded]:
    document = _document(stored)
    return document, expand_and_number(document, None, memory)


def _document(stored: Stored) -> Document:
    """The Scenario without its status, decoded piece by piece: a decoder lets no other thread work meanwhile."""
    parts = msgspec.json.decode(stored.data, type=dict[str, msgspec.Raw])
    parts.pop("status", None)
    spec = msgspec.json.decode(parts.pop("spec", b"null"), type=dict[str, msgspec.Raw] | None)
    document: Document = {key: orjson.loads(bytes(value)) for key, value in parts.items()}
    if spec is not None:
        document["spec"] = {key: _decoded(value) for key, value in spec.items()}
    return document


def _decoded(value: msgspec.Raw) -> object:
    data = bytes(value)
    if not data.startswith(b"["):
        return orjson.loads(data)
    return [orjson.loads(bytes(item)) for item in msgspec.json.decode(data, type=list[msgspec.Raw])]
