"""YAML against sigs.k8s.io/yaml, and what we write against other readers."""

import random
import time
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from seatrial.model import yaml_reader
from seatrial.model.yaml_reader import YamlError, dump, load, load_all
from tests.model.recorded import recorded

TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12),
    st.sampled_from(
        ["y", "n", "on", "off", "12:30", "0777", "1e3", "null", "~", "=", "<<", "a\nb\n", "\n", " x ", "0o7"]
    ),
)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


def test_values_equal_the_recorded_ones() -> None:
    for text, expected, error in recorded("values/yaml"):
        if error:
            with pytest.raises(YamlError):
                load(text)
        else:
            assert load(text) == expected, text


@given(DOCUMENTS)
def test_what_is_written_is_read_back_by_us_and_by_others(document: object) -> None:
    text = dump(document)
    assert load(text) == document
    assert yaml.safe_load(text) == document


def test_a_key_given_twice_is_an_error_with_its_line() -> None:
    with pytest.raises(YamlError, match=r'line 3: key "a" already set in map'):
        load("a: 1\nb: 2\na: 3\n")
    assert load("a: 1\na: 2\n", strict=False) == {"a": 2}


def test_many_documents_are_read_and_empty_ones_left_out() -> None:
    assert load_all("---\na: 1\n---\n---\n- 2\n") == [{"a": 1}, [2]]


def test_json_with_tabs_is_read() -> None:
    assert load('{\n\t"a":\t[1]}') == {"a": [1]}


def test_an_alias_is_a_copy_of_its_own() -> None:
    document = load("a: &x {b: [1]}\nc: *x\n")
    document["a"]["b"].append(2)
    assert document["c"] == {"b": [1]}


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "{a: " * 20_000, "- " * 50_000, "\n".join(" " * i + "a:" for i in range(900))]
)
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(YamlError, match="max depth"):
        load(text)


def test_a_billion_laughs_are_refused_at_once() -> None:
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    started = time.perf_counter()
    with pytest.raises(YamlError, match="excessive aliasing"):
        load("\n".join(lines))
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &x {b: *x}", "contains itself"),
        ("a: *y", "unknown anchor"),
        ("? [a]\n: 1", "line 1: a map key must be a scalar"),
        ("a: .nan", "cannot be written as JSON"),
        ("a: {b: [1}", "line 1"),
        ("a: 1\n---\nb: 2", "expected one document"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_errors_say_what_is_wrong(text: str | bytes, message: str) -> None:
    with pytest.raises(YamlError, match=message):
        load(text)


def test_the_pieces_of_a_document_are_the_text_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_reader, "PIECE", 3)
    dice = random.Random(7)
    texts: tuple[Any, ...] = (
        None,
        True,
        1.5,
        "x",
        "",
        "a\nb\n",
        " lead\nz",
        "y",
        "12:30",
        "multi\n\n\nline",
        "-",
        "k: v",
        "\r\nx",
        [],
        {},
    )
    keys = ("a", "y", "1", "a b", "#", "k:", "x" * 99, "z" * 150, "", "- ")

    def document(depth: int) -> Any:
        choice = dice.random()
        if depth == 0 or choice < 0.4:
            return dice.choice(texts)
        if choice < 0.7:
            return [document(depth - 1) for _ in range(dice.randint(0, 5))]
        return {f"{dice.choice(keys)}{place}": document(depth - 1) for place in range(dice.randint(0, 5))}

    for _ in range(500):
        made = document(5)
        assert "".join(yaml_reader.dump_pieces(made)) == yaml_reader.dump(made)
