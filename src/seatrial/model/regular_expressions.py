"""Regular expressions that users write: RE2's syntax, matched in linear time.

A CRD's `pattern`, CEL's `matches` and a Stage's expressions come from a request, and Python's `re` takes exponential
time for some of them. RE2 decides what an expression may say, as Go's regexp package does upstream: no lookaround, no
back references, POSIX classes. Refusals have Go's words (regexp/syntax/parse.go).
"""

from collections.abc import Iterator
from functools import lru_cache

import re2

_GO_WORDS = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "trailing \\": "trailing backslash at end of expression",
    "pattern too large - compile failed": "expression too large",
}
_ANY_BYTE = "invalid escape sequence: `\\C`"


class RegexError(ValueError):
    """A text is not a regular expression; the message is that of Go's regexp.Compile."""


class Regex:
    """A compiled expression."""

    __slots__ = ("_compiled",)

    def __init__(self, expression: str) -> None:
        options = re2.Options()
        options.log_errors = False
        try:
            self._compiled = re2.compile(expression, options)
        except UnicodeEncodeError as error:
            raise RegexError("error parsing regexp: invalid UTF-8") from error
        except re2.error as error:
            raise RegexError(f"error parsing regexp: {_go_text(error, expression)}") from error
        if "\\C" in expression.replace("\\\\", ""):
            # C++ accepts the escape for one byte; Go does not.
            raise RegexError(f"error parsing regexp: {_ANY_BYTE}")

    def matches(self, text: str) -> bool:
        """Whether some part of the text matches."""
        return self._compiled.search(text.encode("utf-8", "replace")) is not None

    def find(self, text: str) -> Iterator[str]:
        """The matching parts, from left to right."""
        for match in self._compiled.finditer(text.encode("utf-8", "replace")):
            yield match.group().decode("utf-8", "replace")


@lru_cache(1024)
def regex(expression: str) -> Regex:
    """The compiled expression; RegexError with Go's message where it is none."""
    return Regex(expression)


def _go_text(error: Exception, expression: str) -> str:
    (said,) = error.args
    what, separator, part = (said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)).partition(": ")
    if what == "missing )" or what.startswith("unexpected )"):
        part = expression
    return f"{_GO_WORDS.get(what, what)}: `{part if separator else ''}`"
