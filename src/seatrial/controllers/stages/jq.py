"""Evaluates the jq expressions of Stages with libjq; plain paths such as `.status.phase` are read directly.

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

_PLAIN_PATH = re.compile(r"(?:\.[A-Za-z_]\w*)+")
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
        return _path_reader(stripped[1:].split("."))
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


def _path_reader(names: list[str]) -> Query:
    def results(document: Any) -> list[Any]:
        for name in names:
            if not isinstance(document, dict):
                return []
            document = document.get(name)
        return [] if document is None else [document]

    return results
