"""A value and the versions of what it was computed from: the one way in which the scheduler keeps computed values."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Versioned(Generic[T]):
    """A computed value that is valid while its versions are equal to the present ones."""

    __slots__ = ("_value", "_versions")

    def __init__(self) -> None:
        self._versions: Any = Versioned  # equal to no versions

    def get(self, versions: Any, compute: Callable[[], T]) -> T:
        """The value, computed again if the versions differ from those of the kept value."""
        if self._versions != versions:
            self._value: T = compute()
            self._versions = versions
        return self._value

    def is_current(self, versions: Any) -> bool:
        """Whether a value for these versions is kept."""
        return bool(self._versions == versions)
