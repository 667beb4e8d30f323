"""Regular expressions of users: RE2's syntax, Go's refusals, linear time."""

import pytest

from seatrial.model.regular_expressions import RegexError, regex

REFUSALS = [
    ("a)", "unexpected ): `a)`"),
    ("(", "missing closing ): `(`"),
    ("[a", "missing closing ]: `[a`"),
    ("\\", "trailing backslash at end of expression: ``"),
    ("(?=x)", "invalid or unsupported Perl syntax: `(?=`"),
    ("(a)\\1", "invalid escape sequence: `\\1`"),
    ("\\C", "invalid escape sequence: `\\C`"),
    ("*", "missing argument to repetition operator: `*`"),
    ("a**", "invalid nested repetition operator: `**`"),
    ("a{1001}", "invalid repeat count: `{1001}`"),
    ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
    ("(?P<a", "invalid named capture: `(?P<a`"),
]  # recorded from Go's regexp.Compile


@pytest.mark.parametrize(("expression", "why"), REFUSALS)
def test_what_go_refuses_is_refused_in_its_words(expression: str, why: str) -> None:
    with pytest.raises(RegexError) as raised:
        regex(expression)
    assert str(raised.value) == f"error parsing regexp: {why}"


def test_a_text_that_is_no_unicode_is_refused() -> None:
    with pytest.raises(RegexError, match="invalid UTF-8"):
        regex("\ud800")


def test_posix_classes_and_unicode_work() -> None:
    assert regex("^[[:alpha:]]+$").matches("abc")
    assert list(regex("a.c").find("abc aéc")) == ["abc", "aéc"]


def test_nested_repetition_ends_on_a_text_that_nearly_matches() -> None:
    """Python's `re` needs 2^100000 steps for this."""
    assert not regex("^(a+)+$").matches("a" * 100_000 + "!")
