"""Copies of what a view decoded, with the values of another object."""

import msgspec
import pytest

from seatrial.store.views.filling import ABSENT, MISSING, at, filler


class _Inner(msgspec.Struct, rename="camel"):
    first_name: str = "nobody"
    labels: dict[str, str] = {}


class _Outer(msgspec.Struct):
    inner: _Inner
    listed: list[_Inner] = []
    raw: msgspec.Raw = msgspec.Raw(b"")
    pair: tuple[str, str] = ("", "")


def _decoded() -> _Outer:
    inner, raw = b'{"firstName":"ann","labels":{"a":"1"}}', b'{"k":"v"}'
    text = b'{"inner":%b,"listed":[{"firstName":"x"}],"raw":%b,"pair":["l","r"]}' % (inner, raw)
    return msgspec.json.decode(text, type=_Outer)


@pytest.mark.parametrize(
    "path",
    [("inner", "firstName"), ("inner", "labels", "a"), ("listed", 0, "firstName"), ("raw", "k"), ("pair", 1)],
)
def test_a_value_is_filled_in_wherever_it_lies(path: tuple[str | int, ...]) -> None:
    seen = _decoded()
    copied = filler(seen, {path: 1})(seen, ("other", "new"))
    assert at(copied, path) == "new"
    assert seen == _decoded()
    assert filler(seen, {path: 0})(copied, (at(seen, path),)) == seen


def test_an_absent_value_is_the_default_of_its_field_and_no_key_of_a_dict() -> None:
    seen = _decoded()
    fill = filler(seen, {("inner", "firstName"): 0, ("inner", "labels", "a"): 1})
    copied = fill(seen, (ABSENT, ABSENT))
    assert copied.inner == _Inner("nobody", {})
    assert at(copied, ("inner", "labels", "a")) is MISSING


@pytest.mark.parametrize("value", ["plain", "100 %", 'a "quote"', "\0 1 \0", 7])
def test_encoded_bytes_are_cut_at_the_values_with_the_same_result(value: object) -> None:
    seen = _decoded()
    plain, cut = (filler(seen, {("raw", "k"): 1}, is_only=is_only) for is_only in (False, True))
    assert bytes(cut(seen, ("", value)).raw) == bytes(plain(seen, ("", value)).raw)


def test_a_text_that_looks_like_a_gap_is_left_alone() -> None:
    seen = _Outer(_Inner(), raw=msgspec.Raw(b'{"k":"v","other":"\\u00000\\u0000"}'))
    assert bytes(filler(seen, {("raw", "k"): 0}, is_only=True)(seen, ("new",)).raw) == (
        b'{"k":"new","other":"\\u00000\\u0000"}'
    )


def test_a_whole_field_that_is_kept_encoded_is_encoded() -> None:
    seen = _decoded()
    assert bytes(filler(seen, {("raw",): 0})(seen, ({"k": 2},)).raw) == b'{"k":2}'
