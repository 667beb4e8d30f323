"""Regular expressions that users write: RE2's syntax, matched in linear time.

A CRD's `pattern`, CEL's `matches` and a Stage's expressions come from a request, and Python's `re` takes exponential
time for some of them. A match takes at most the size of the program times that of the text, which is charged as
bounded work. RE2 decides what an expression may say, as Go's regexp package does upstream: no lookaround, no
back references, POSIX classes. Refusals have Go's words (regexp/syntax/parse.go).
"""

from collections.abc import Iterator
from functools import lru_cache

import re2

from seatrial.model.cel.bounded_work import charge

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
LONGEST = 64 * 1024
"""Characters of an expression; Go has a limit on the compiled program only, which such an expression can exceed."""
_COMPILING = 40
"""What it costs to compile one character, in units of CEL."""
_CLASS, _REPEATED = 1200, 50
"""What a Unicode class costs, and how much more it costs where it may be repeated."""
_STEPS = 64
"""Steps of a match for one unit."""
_ANY_BYTE = "invalid escape sequence: `\\C`"


class RegexError(ValueError):
    """A text is not a regular expression; the message is that of Go's regexp.Compile."""


class Regex:
    """A compiled expression."""

    __slots__ = ("_compiled",)

    def __init__(self, expression: str) -> None:
        if len(expression) > LONGEST:
            raise RegexError(f"error parsing regexp: expression too large: `{expression}`")
        classes = (expression.count("\\p") + expression.count("\\P")) * (_REPEATED if "{" in expression else 1)
        charge(len(expression) * _COMPILING + classes * _CLASS)
        options = re2.Options()
        options.log_errors = False
        options.never_capture = True  # groups make compiling and matching quadratic, and no caller reads one
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
        encoded = text.encode("utf-8", "replace")
        charge(self._compiled.programsize * len(encoded) // _STEPS)
        return self._compiled.search(encoded) is not None

    def find(self, text: str) -> Iterator[str]:
        """The matching parts, from left to right."""
        encoded = text.encode("utf-8", "replace")
        charge(self._compiled.programsize * len(encoded) // _STEPS)
        for match in self._compiled.finditer(encoded):
            yield match.group().decode("utf-8", "replace")


@lru_cache(1024)
def regex(expression: str) -> Regex:
    """The compiled expression; RegexError with Go's message if it cannot be compiled."""
    return Regex(expression)


def _go_text(error: Exception, expression: str) -> str:
    (said,) = error.args
    what, separator, part = (said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)).partition(": ")
    if what == "missing )" or what.startswith("unexpected )"):
        part = expression
    return f"{_GO_WORDS.get(what, what)}: `{part if separator else ''}`"
