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
        self.by_namespace: dict[str, dict[str, LabelSelector]] = {}
        """Empty until there is such an object; always the same dict."""

    def start(self) -> None:
        for stored in self._store.list(self._kind):
            self._put(stored)

    def stop(self) -> None:
        self.by_namespace.clear()

    def changed(self, change: Change) -> None:
        """Follow a change of one of the objects."""
        stored = change.stored
        if change.type == "DELETED":
            self.by_namespace.get(stored.namespace, {}).pop(stored.name, None)
        elif change.subresource != "status":
            self._put(stored)

    def get(self, namespace: str, name: str) -> LabelSelector | None:
        return self.by_namespace.get(namespace, {}).get(name)

    def matching(self, namespace: str, labels: Mapping[str, str]) -> list[str]:
        """The objects of a namespace whose selector matches these labels."""
        selectors = self.by_namespace.get(namespace)
        if not selectors:
            return []
        return [name for name, selector in selectors.items() if selector.matches(labels)]

    def is_empty(self, namespace: str) -> bool:
        """Whether no object of a namespace selects anything."""
        return all(selector is NOTHING for selector in self.by_namespace.get(namespace, {}).values())

    def _put(self, stored: Stored) -> None:
        self.by_namespace.setdefault(stored.namespace, {})[stored.name] = self._read(stored.document())
