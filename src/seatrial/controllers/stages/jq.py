"""Evaluates the jq expressions of Stages with libjq; paths such as `.spec.containers.[].name` are read directly.

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

_PLAIN_PATH = re.compile(r"(?:\.[A-Za-z_]\w*)(?:\.[A-Za-z_]\w*|\.?\[\])*")
_STEP = re.compile(r"[A-Za-z_]\w*|\[\]")
_EVERY = "[]"
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_REFUSED = re.compile(
    r"(?<![.\w])(\$ENV|env|inputs?|input_filename|input_line_number|\$__prog_args|import|include|debug|stderr|halt"
    r"|halt_error|now|localtime|mktime|get_search_list|repeat|while|until|recurse|range|def)\b"
)


@lru_cache(maxsize=1024)
def compile_query(text: str) -> Query:
    """Compile a query; ConfigError names the query and what is wrong with it."""
    stripped = text.strip()
    if _PLAIN_PATH.fullmatch(stripped):
        return _path_reader(_STEP.findall(stripped))
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


def _path_reader(steps: list[str]) -> Query:
    def results(document: Any) -> list[Any]:
        found = [document]
        for step in steps:
            following: list[Any] = []
            for value in found:
                if step == _EVERY and isinstance(value, list | dict):
                    following += value.values() if isinstance(value, dict) else value
                elif step != _EVERY and isinstance(value, dict):
                    following.append(value.get(step))
                elif step != _EVERY and value is None:
                    following.append(None)
                else:
                    return []
            found = following
        return [value for value in found if value is not None]

    return results
