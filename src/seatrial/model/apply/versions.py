"""A change of an object as the owners of its fields see it: each entry of managedFields names fields of one version.

Follows merge/update.go of structured-merge-diff: old and new object are converted to the version of each owner and
compared there; an entry of a version that no longer exists is dropped.
"""

from collections.abc import Callable, Sequence

from seatrial.model.apply.comparing import Comparison, Filter, compare
from seatrial.model.apply.entries import Entry
from seatrial.model.apply.shapes import DEDUCED, Shape, shape_of
from seatrial.model.apply.typed import validate
from seatrial.model.documents import Document
from seatrial.model.schema import Schema

InVersion = Callable[[str, Sequence[Document]], tuple[list[Document], Schema | None] | None]
"""Documents in another version, with its schema; None where there is no such version."""


class Changes:
    """One change, compared in the version of the request and in those of other owners."""

    def __init__(
        self,
        api_version: str,
        change: Comparison,
        old: Document,
        new: Document,
        owned: Filter,
        convert: InVersion | None,
    ) -> None:
        """Without `convert` all versions have the same fields."""
        self._documents = (old, new)
        self._owned, self._convert = owned, convert
        self._known: dict[str, Comparison | None] = {api_version: change}

    def seen_by(self, entry: Entry) -> Comparison | None:
        """The change in the version of an entry; None where that no longer exists.

        TypeFault where the objects have fields that are not in the schema of that version.
        """
        if self._convert is None:
            return next(iter(self._known.values()))
        version = entry.api_version
        if version not in self._known:
            self._known[version] = self._compared(version, self._convert)
        return self._known[version]

    def _compared(self, api_version: str, convert: InVersion) -> Comparison | None:
        found = convert(api_version, self._documents)
        if found is None:
            return None
        (old, new), schema = found
        shape = shape_in(schema)
        for document in (old, new):
            validate(document, shape)
        return compare(old, new, shape).restricted(self._owned)


def shape_in(schema: Schema | None) -> Shape:
    """The shape of documents of a schema; without a schema it is deduced from the values."""
    return shape_of(schema) if schema is not None else DEDUCED
