"""Errors of patches, with values in Go's print format."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from seatrial.model.errors import BadRequest, Invalid

_P = ParamSpec("_P")
_R = TypeVar("_R")
_GO_TYPES = {
    dict: "map[string]interface {}",
    list: "[]interface {}",
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    type(None): "%!s(<nil>)",
}
_JSON_TYPES = {dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number"}


class PatchRefused(Invalid):
    """A patch that does not apply to the document: 422."""

    def __init__(self, why: str) -> None:
        super().__init__("the server rejected our request due to an error in our request", detailed=True)
        self.why = why


def go_text(value: Any) -> str:
    """A JSON value as Go's %v prints it."""
    if isinstance(value, Mapping):
        return f"map[{' '.join(f'{key}:{go_text(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_text, value))}]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def go_type(value: Any) -> str:
    """The Go type that holds a JSON value."""
    return _GO_TYPES.get(type(value), type(value).__name__)


def cannot_unmarshal(value: Any, into: str) -> BadRequest:
    """The decoder's complaint about a patch of the wrong form."""
    form = _JSON_TYPES.get(type(value), "null")
    return BadRequest(f"error decoding patch: json: cannot unmarshal {form} into Go value of type {into}")


def bounded(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Refuse what is nested deeper than Python's stack, rather than fail."""

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except RecursionError:
            raise BadRequest("error decoding patch: exceeded max depth") from None

    return call
