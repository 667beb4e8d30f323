"""Cell values: ages and durations as kubectl formats them, and fields that may be absent.

Upstream: k8s.io/apimachinery/pkg/util/duration/duration.go.
"""

from typing import Any

from seatrial.model.documents import Document
from seatrial.model.times import SECOND, parse_time

NONE, UNKNOWN, UNSET = "<none>", "<unknown>", "<unset>"
MINUTE, HOUR, DAY = 60, 3600, 24 * 3600
YEAR = 365 * DAY


def at(document: Any, *path: str) -> Any:
    """The value at a path of keys; None where some of it is missing."""
    for key in path:
        if not isinstance(document, dict):
            return None
        document = document.get(key)
    return document


def items(document: Any, *path: str) -> list[Any]:
    """The list at a path; empty if the path is missing."""
    found = at(document, *path)
    return found if isinstance(found, list) else []


def number(document: Any, *path: str) -> int:
    """The number at a path; 0 if the path is missing."""
    found = at(document, *path)
    return found if isinstance(found, int) else 0


def text(document: Any, *path: str, absent: str = "") -> str:
    """The text at a path."""
    found = at(document, *path)
    return str(found) if found not in (None, "") else absent


def since(instant: Any, now: int, absent: str = UNKNOWN) -> str:
    """How long ago a timestamp is."""
    when = _instant(instant)
    return human_duration((now - when) // SECOND) if when is not None else absent


def between(start: Any, end: Any) -> str:
    """The time from one timestamp to another."""
    first, last = _instant(start), _instant(end)
    return human_duration((last - first) // SECOND) if first is not None and last is not None else ""


def _instant(text: Any) -> int | None:
    try:
        return parse_time(text) if text else None
    except (ValueError, TypeError):
        return None


def age(document: Document, now: int) -> str:
    """How long ago the object was created."""
    return since(at(document, "metadata", "creationTimestamp"), now)


def name(document: Document) -> str:
    return text(document, "metadata", "name")


def human_duration(seconds: int) -> str:
    """A duration in about two or three digits: 75s, 5m12s, 3h, 2d4h, 5y."""
    if seconds < -1:
        return "<invalid>"
    if seconds < 0:
        return "0s"
    if seconds < 2 * MINUTE:
        return f"{seconds}s"
    if seconds < 10 * MINUTE:
        return _two(seconds, MINUTE, "m", 1, "s")
    if seconds < 3 * HOUR:
        return f"{seconds // MINUTE}m"
    if seconds < 8 * HOUR:
        return _two(seconds, HOUR, "h", MINUTE, "m")
    if seconds < 2 * DAY:
        return f"{seconds // HOUR}h"
    if seconds < 8 * DAY:
        return _two(seconds, DAY, "d", HOUR, "h")
    if seconds < 2 * YEAR:
        return f"{seconds // DAY}d"
    if seconds < 8 * YEAR:
        return _two(seconds, YEAR, "y", DAY, "d")
    return f"{seconds // YEAR}y"


def _two(seconds: int, large: int, large_name: str, small: int, small_name: str) -> str:
    rest = seconds % large // small
    return f"{seconds // large}{large_name}" + (f"{rest}{small_name}" if rest else "")


def labels_text(labels: Any) -> str:
    """Labels as key=value pairs in order of the keys."""
    if not isinstance(labels, dict) or not labels:
        return NONE
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def selector_text(selector: Any) -> str:
    """A LabelSelector as kubectl writes it."""
    if selector is None:
        return NONE
    terms = [f"{key}={value}" for key, value in sorted((at(selector, "matchLabels") or {}).items())]
    for expression in items(selector, "matchExpressions"):
        key, operator = expression.get("key", ""), expression.get("operator", "")
        values = ",".join(sorted(expression.get("values") or []))
        terms.append(
            {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}.get(operator, f"!{key}")
        )
    return ",".join(terms) or NONE


def containers(spec: Any) -> tuple[str, str]:
    """Names and images of the containers of a pod spec."""
    found = items(spec, "containers")
    return ",".join(text(c, "name") for c in found), ",".join(text(c, "image") for c in found)
