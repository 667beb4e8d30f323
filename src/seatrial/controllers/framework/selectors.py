"""Label selectors of all objects of a kind, parsed once for each change of a spec."""

from collections.abc import Callable, Mapping

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import NOTHING, LabelSelector
from seatrial.store import Change, Store, Stored


class SelectorIndex:
    """The parsed selectors of the objects of a kind."""

    def __init__(self, store: Store, kind: Kind, read: Callable[[Document], LabelSelector]) -> None:
        self._store = store
        self._kind = kind
        self._read = read
        self._selectors: dict[str, dict[str, LabelSelector]] = {}

    def start(self) -> None:
        for stored in self._store.list(self._kind):
            self._put(stored)

    def stop(self) -> None:
        self._selectors.clear()

    def changed(self, change: Change) -> None:
        """Follow a change of one of the objects."""
        stored = change.stored
        if change.type == "DELETED":
            self._selectors.get(stored.namespace, {}).pop(stored.name, None)
        elif change.subresource != "status":
            self._put(stored)

    def __len__(self) -> int:
        """The number of namespaces that have, or had, such an object: 0 where no selector can match."""
        return len(self._selectors)

    def get(self, namespace: str, name: str) -> LabelSelector | None:
        return self._selectors.get(namespace, {}).get(name)

    def matching(self, namespace: str, labels: Mapping[str, str]) -> list[str]:
        """The objects of a namespace whose selector matches these labels."""
        selectors = self._selectors.get(namespace)
        if not selectors:
            return []
        return [name for name, selector in selectors.items() if selector.matches(labels)]

    def is_empty(self, namespace: str) -> bool:
        """Whether no object of a namespace selects anything."""
        return all(selector is NOTHING for selector in self._selectors.get(namespace, {}).values())

    def _put(self, stored: Stored) -> None:
        self._selectors.setdefault(stored.namespace, {})[stored.name] = self._read(stored.document())
