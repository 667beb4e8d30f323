"""A dict for what was computed once, of bounded size."""

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Memo(dict[K, V]):
    """Results by key. When there are as many as may be kept, the next one replaces them all.

    To forget them all costs less than to keep the order of their use, and what is needed is soon computed again.
    """

    __slots__ = ("_limit",)

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self._limit and key not in self:
            self.clear()
        super().__setitem__(key, value)
