"""Label selectors with an identity: equal selectors of different pods are one key of the counts kept per node."""

from collections.abc import Mapping

from seatrial.model.documents import Document
from seatrial.model.label_selectors import NOTHING as NO_LABELS
from seatrial.model.label_selectors import LabelSelector, SelectorError


class Selector:
    """A label selector that is cheap to compare: absent picks nothing, empty picks everything."""

    __slots__ = ("_hash", "fault", "selector")

    def __init__(self, selector: LabelSelector, fault: str = "") -> None:
        self.selector = selector
        self.fault = fault
        """Why the document is no selector; it then picks nothing."""
        self._hash = hash(selector)

    @classmethod
    def read(cls, document: Document | None) -> "Selector":
        """The selector a metav1.LabelSelector describes."""
        if document is None:
            return NOTHING
        try:
            return cls(LabelSelector.from_document(document))
        except SelectorError as error:
            return cls(NO_LABELS, error.message)

    @property
    def is_empty(self) -> bool:
        """Whether it picks everything for want of requirements."""
        return self.selector.selects_everything

    @property
    def anchor(self) -> tuple[str, str] | None:
        """A label that every selected pod has; None if no single label is required."""
        for requirement in self.selector.requirements:
            if requirement.operator in ("=", "==", "in") and len(requirement.values) == 1:
                return requirement.key, requirement.values[0]
        return None

    def matches(self, labels: Mapping[str, str]) -> bool:
        return self.selector.matches(labels)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Selector) and self.selector == other.selector)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Selector({self.selector!r})"


NOTHING = Selector(NO_LABELS)
