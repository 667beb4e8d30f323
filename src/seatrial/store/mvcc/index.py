"""The current objects in the order of (namespace, name), one index per kind.

A dict keeps the order of insertion, so an index stays sorted by itself while names arrive in order; one that
arrives out of order only marks its namespace, and the next list sorts it.
"""

from collections.abc import Iterator

from seatrial.store.objects import Stored


class KeyIndex:
    """All objects of one kind."""

    def __init__(self) -> None:
        self._spaces: dict[str, dict[str, Stored]] = {}
        self._unsorted: set[str] = set()
        self._last: dict[str, str] = {}
        self._spaces_sorted = True

    def find(self, namespace: str, name: str) -> Stored | None:
        space = self._spaces.get(namespace)
        return space.get(name) if space is not None else None

    def put(self, stored: Stored) -> None:
        namespace, name = stored.namespace, stored.name
        space = self._spaces.get(namespace)
        if space is None:
            self._spaces_sorted = not self._spaces or (self._spaces_sorted and namespace > next(reversed(self._spaces)))
            self._spaces[namespace] = {name: stored}
            self._last[namespace] = name
            return
        if name not in space:
            if name > self._last[namespace]:
                self._last[namespace] = name
            else:
                self._unsorted.add(namespace)
        space[name] = stored

    def remove(self, namespace: str, name: str) -> None:
        space = self._spaces[namespace]
        del space[name]
        if not space:
            del self._spaces[namespace], self._last[namespace]
            self._unsorted.discard(namespace)

    def all(self, namespace: str = "") -> list[Stored]:
        """The objects of one namespace; of all namespaces if it is empty."""
        if namespace:
            return list(self._sorted(namespace).values()) if namespace in self._spaces else []
        return [stored for space in self._namespaces() for stored in self._sorted(space).values()]

    def __bool__(self) -> bool:
        return bool(self._spaces)

    def __len__(self) -> int:
        return sum(map(len, self._spaces.values()))

    def __iter__(self) -> Iterator[Stored]:
        return iter(self.all())

    def _namespaces(self) -> list[str]:
        if not self._spaces_sorted:
            self._spaces = {name: self._spaces[name] for name in sorted(self._spaces)}
            self._spaces_sorted = True
        return list(self._spaces)

    def _sorted(self, namespace: str) -> dict[str, Stored]:
        space = self._spaces[namespace]
        if namespace in self._unsorted:
            space = self._spaces[namespace] = {name: space[name] for name in sorted(space)}
            self._unsorted.discard(namespace)
            self._last[namespace] = next(reversed(space))
        return space
