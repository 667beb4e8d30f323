"""Label selectors with an identity: equal selectors of different pods are one key of the counts kept per node."""

from collections.abc import Mapping

import orjson

from seatrial.model.documents import Document
from seatrial.model.labels import LabelSelector


class Selector:
    """A metav1.LabelSelector: absent picks nothing, empty picks everything. Compared by what it says."""

    __slots__ = ("_hash", "_selector", "key")

    def __init__(self, key: bytes, selector: LabelSelector | None) -> None:
        self.key = key
        self._selector = selector
        self._hash = hash(key)

    @classmethod
    def read(cls, document: Document | None) -> "Selector":
        """The selector a document describes."""
        if document is None:
            return NOTHING
        return cls(orjson.dumps(document, option=orjson.OPT_SORT_KEYS), LabelSelector.from_document(document))

    @property
    def is_nothing(self) -> bool:
        return self._selector is None

    @property
    def is_empty(self) -> bool:
        """Whether it picks everything for want of requirements."""
        return self.key == b"{}"

    def matches(self, labels: Mapping[str, str]) -> bool:
        return self._selector is not None and self._selector.matches(labels)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Selector) and self.key == other.key

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Selector({self.key.decode()})"


NOTHING = Selector(b"", None)
