"""Rows of rules: when a field is looked at, and in which order its causes come."""

import pytest

from seatrial.store.validation.formats import label
from seatrial.store.validation.rules import (
    Check,
    Row,
    always,
    among,
    at_most,
    each,
    given,
    longest,
    need,
    need_set,
    present,
    rules,
)

CHOICE = among("a", "b")


def messages(check: Check, document: object, path: str = "spec") -> list[str]:
    return [f"{cause.field}: {cause.message}" for cause in check(document, path)]


@pytest.mark.parametrize(
    ("row", "absent", "empty"),
    [
        (need("x", CHOICE), ["spec.x: Required value"], ["spec.x: Required value"]),
        (need_set("x", CHOICE), ["spec.x: Required value"], ['spec.x: Unsupported value: ""']),
        (given("x", CHOICE), [], []),
        (present("x", CHOICE), [], ['spec.x: Unsupported value: ""']),
        (always("x", CHOICE), ['spec.x: Unsupported value: ""'], ['spec.x: Unsupported value: ""']),
    ],
)
def test_a_row_says_what_absent_and_empty_mean(row: Row, absent: list[str], empty: list[str]) -> None:
    check = rules(row)
    assert [text.partition(": supported")[0] for text in messages(check, {})] == absent
    assert [text.partition(": supported")[0] for text in messages(check, {"x": ""})] == empty
    assert messages(check, {"x": "a"}) == []


def test_rows_and_functions_are_read_in_their_order() -> None:
    check = rules(need("b"), lambda document, path: CHOICE("c", path), need("a", text="why"))
    assert [text.partition(":")[0] for text in messages(check, {})] == ["spec.b", "spec", "spec.a"]


def test_a_dotted_name_passes_through_missing_structs() -> None:
    check = rules(need("a.b"))
    assert messages(check, {}, "") == messages(check, {"a": {}}, "") == ["a.b: Required value"]
    assert messages(check, {"a": {"b": 1}}) == []


def test_items_have_their_index_and_their_duplicates_follow_them() -> None:
    check = rules(each("l", rules(need("name", label)), unique="name"))
    assert [text.partition(": ")[0] for text in messages(check, {"l": [{"name": "A"}, {"name": "A"}, {}]})] == [
        "spec.l[0].name",
        "spec.l[1].name",
        "spec.l[1].name",
        "spec.l[2].name",
    ]


def test_limits_count_entries_and_bytes() -> None:
    check = rules(given("l", at_most(1)), given("t", longest(2)))
    assert messages(check, {"l": [1, 2], "t": "äö"}) == [
        "spec.l: Too many: 2: must have at most 1 item",
        "spec.t: Too long: may not be more than 2 bytes",
    ]
    assert messages(check, {"l": [1], "t": "ä"}) == []
