"""Arguments of plugins and actions, read as strictly as upstream does: a value of another type is ignored.

Upstream: pkg/scheduler/framework/arguments.go.
"""

from collections.abc import Mapping
from typing import Any

from seatrial.volcano.cache.task_info import parse_bool


class Arguments:
    """A plugin's arguments by name."""

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self.values: Mapping[str, Any] = values or {}

    def integer(self, key: str, default: int) -> int:
        value = self.values.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else default

    def number(self, key: str, default: float) -> float:
        value = self.values.get(key)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default

    def boolean(self, key: str, default: bool) -> bool:
        value = self.values.get(key)
        if isinstance(value, bool):
            return value
        parsed = parse_bool(value) if isinstance(value, str) else None
        return default if parsed is None else parsed

    def text(self, key: str, default: str = "") -> str:
        value = self.values.get(key)
        return value if isinstance(value, str) else default

    def get(self, key: str) -> Any:
        return self.values.get(key)
