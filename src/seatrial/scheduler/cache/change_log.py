"""A log of changes: whatever keeps something until it changes reads what came after a mark."""

from typing import Generic, TypeVar

T = TypeVar("T")
LIMIT = 1 << 20


class ChangeLog(Generic[T]):
    """The last changes, in order; a mark is the number of changes there were before it."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._entries: list[T] = []
        self._start = 0
        self.mark = 0
        """The present end."""

    def append(self, entry: T) -> None:
        """Something has changed."""
        self._entries.append(entry)
        self.mark += 1
        if len(self._entries) > self._limit:
            half = self._limit // 2
            del self._entries[:half]
            self._start += half

    def number_since(self, mark: int) -> int | None:
        """How many changes came after a mark; None if they are not kept that far back."""
        return None if mark < self._start else self.mark - mark

    def since(self, mark: int) -> list[T] | None:
        """The changes after a mark; None if they are not kept that far back."""
        return None if mark < self._start else self._entries[mark - self._start :]
