"""Evaluates the jq expressions of Stages with libjq; paths such as `.spec.containers.[].name` are read directly, also
with quoted names and a text for a missing value (`.metadata.annotations["a/b"] // "0"`).

A query returns its results as KWOK uses them: nulls are left out, and a query that ends in an error (such as iterating
over a missing field) returns nothing. KWOK evaluates with gojq, which has no environment, no further inputs and no
modules, so queries that name these are refused: libjq would read the environment of this process.

Upstream: kwok pkg/utils/expression/query.go.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jq

from seatrial.model.documents import encode
from seatrial.model.errors import ConfigError

Query = Callable[[Any], list[Any]]

_TEXT = r'"[^"\\]*"'
_PLAIN_PATH = re.compile(rf"\.(?:[A-Za-z_]\w*|{_TEXT}|\[{_TEXT}\])(?:\.(?:[A-Za-z_]\w*|{_TEXT})|\.?\[(?:{_TEXT})?\])*")
_STEP = re.compile(rf"([A-Za-z_]\w*)|({_TEXT})|\[\]")
_OR_ELSE = re.compile(rf"\s*//\s*({_TEXT})")
_EVERY = None
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_REFUSED = re.compile(
    r"(?<![.\w])(\$ENV|env|inputs?|input_filename|input_line_number|\$__prog_args|import|include|debug|stderr|halt"
    r"|halt_error|now|localtime|mktime|get_search_list|repeat|while|until|recurse|range|def)\b"
)


@lru_cache(maxsize=1024)
def compile_query(text: str) -> Query:
    """Compile a query; ConfigError names the query and what is wrong with it."""
    stripped = text.strip()
    path = _PLAIN_PATH.match(stripped)
    default = _OR_ELSE.fullmatch(stripped, path.end()) if path is not None else None
    if path is not None and path.end() == len(stripped):
        return _path_reader(_steps(path[0]))
    if path is not None and default is not None:
        return _path_reader(_steps(path[0]), default[1][1:-1])
    refused = _REFUSED.search(_STRING.sub('""', text))
    if refused is not None:
        raise ConfigError("", f"jq {text!r}", f"{refused[1]} is not available in a Stage")
    try:
        program = jq.compile(text)
    except ValueError as error:
        raise ConfigError("", f"jq {text!r}", str(error).strip().partition("\n")[0]) from None

    def results(document: Any) -> list[Any]:
        try:
            return [found for found in program.input_text(encode(document).decode()) if found is not None]
        except ValueError:
            return []

    return results


def _steps(path: str) -> list[str | None]:
    """The names of a path; `_EVERY` where it iterates."""
    return [name or quoted[1:-1] if name or quoted else _EVERY for name, quoted in _STEP.findall(path)]


def _path_reader(steps: list[str | None], default: str | None = None) -> Query:
    """Reads a path; `default` is the text after `//`, for a path without a value that is neither null nor false."""

    def results(document: Any) -> list[Any]:
        found = _walk(steps, document)
        if found is None:
            return []
        if default is None:
            return [value for value in found if value is not None]
        return [value for value in found if value is not None and value is not False] or [default]

    return results


def _walk(steps: list[str | None], document: Any) -> list[Any] | None:
    """The values at a path, nulls included; None where jq ends in an error."""
    found = [document]
    for step in steps:
        following: list[Any] = []
        for value in found:
            if step is _EVERY and isinstance(value, list | dict):
                following += value.values() if isinstance(value, dict) else value
            elif step is not _EVERY and isinstance(value, dict):
                following.append(value.get(step))
            elif step is not _EVERY and value is None:
                following.append(None)
            else:
                return None
        found = following
    return found
