"""The first difference between what was expected and what came out."""

from typing import Any

_ABSENT: Any = object()


def first_difference(expected: Any, actual: Any, path: str = "") -> str | None:
    """Where two documents differ first, in words; None where they are equal."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted({*expected, *actual}):
            found = first_difference(expected.get(key, _ABSENT), actual.get(key, _ABSENT), f"{path}.{key}")
            if found:
                return found
        return None
    if isinstance(expected, list) and isinstance(actual, list):
        for index, (one, other) in enumerate(zip(expected, actual, strict=False)):
            found = first_difference(one, other, f"{path}[{index}]")
            if found:
                return found
        if len(expected) != len(actual):
            return f"{path or '.'}: expected {len(expected)} entries, got {len(actual)}"
        return None
    if expected is _ABSENT:
        return f"{path}: expected nothing, got {_shown(actual)}"
    if actual is _ABSENT:
        return f"{path}: expected {_shown(expected)}, got nothing"
    if expected == actual and type(expected) is type(actual):
        return None
    return f"{path or '.'}: expected {_shown(expected)}, got {_shown(actual)}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}..."
