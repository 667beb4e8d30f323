"""Queries of Stage selectors mean what jq means by them."""

from typing import Any

import jq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.controllers.stages.jq import compile_query
from seatrial.model.errors import ConfigError

POD = {
    "metadata": {"name": "a", "labels": {"app": "web"}, "annotations": {"x.y/z": "1s"}},
    "spec": {"containers": [{"name": "c", "n": 1}, {"name": "d", "n": 2}], "ready": False},
    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=3),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text("ab", max_size=2), children, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("query", "results"),
    [
        (".metadata.name", ["a"]),
        (".", [POD]),
        ('.metadata.annotations["x.y/z"]', ["1s"]),
        ('.metadata.labels."app"', ["web"]),
        (".metadata.missing", []),
        (".metadata.missing.deeper", []),
        (".metadata.missing[]", []),
        (".spec.containers[].name", ["c", "d"]),
        (".spec.containers.[].name", ["c", "d"]),
        (".spec.containers[0].name", ["c"]),
        (".spec.containers[-1].name", ["d"]),
        (".spec.containers[7]", []),
        ('.status.conditions.[] | select( .type == "Ready" ) | .status', ["True"]),
        ('.status.conditions[] | select(.type == "Other")', []),
        (".spec.containers | length", [2]),
        (".metadata.missing | length", [0]),
        ('.metadata.missing // "none"', ["none"]),
        ('.spec.ready // "none"', ["none"]),
        ('.metadata.name // "none"', ["a"]),
        ('.status.phase == "Running" and .metadata.name != "b"', [True]),
        ('.status.phase == "Failed" or (.spec.ready | not)', [True]),
        ("[.spec.containers[].n] | add", [3]),
        (".spec.containers | map(.n * 2)", [[2, 4]]),
        (".spec.containers | any(.n == 2)", [True]),
        (".spec.containers | all(.n > 1)", [False]),
        ('if .spec.ready then "yes" else "no" end', ["no"]),
        ('if .x then 1 elif .status then 2 else 3 end', [2]),
        (".metadata | has(\"labels\")", [True]),
        (".metadata.name, .status.phase", ["a", "Running"]),
        ('.status.phase | test("^Run")', [True]),
        ('.status.phase | ascii_downcase | startswith("run")', [True]),
        ('"a-b" | split("-") | join("+")', ["a+b"]),
        ("7 / 2, 7 % 2, 7 - 2", [3.5, 1, 5]),
        (".metadata.name.deeper", []),
        ("(.metadata.name.deeper)? // 5", [5]),
        ("empty", []),
        (".metadata | keys", [["annotations", "labels", "name"]]),
        ("-1", [-1]),
    ],
)  # fmt: skip
def test_a_query_gives_what_jq_gives_without_nulls(query: str, results: list[Any]) -> None:
    assert compile_query(query)(POD) == results


@pytest.mark.parametrize("query", [".a |", "select(", "foo", ".[", "1 +", "#", "if . then 1"])
def test_what_is_no_query_is_refused_by_name(query: str) -> None:
    with pytest.raises(ConfigError, match="jq"):
        compile_query(query)


@pytest.mark.parametrize("query", ["env", "$ENV.HOME", "input", "[range(9)]", "def f: f; f", "repeat(.)", "now"])
def test_what_reads_the_process_or_may_never_end_is_refused(query: str) -> None:
    with pytest.raises(ConfigError, match="not available in a Stage"):
        compile_query(query)


@pytest.mark.parametrize("query", [".spec.env", '."env"', '"now"', ".input.range"])
def test_a_field_may_have_the_name_of_a_refused_function(query: str) -> None:
    assert isinstance(compile_query(query)(POD), list)


@given(VALUES)
def test_paths_through_anything_never_fail(value: Any) -> None:
    assert isinstance(compile_query('.a.b[].c // "x"')(value), list)


@given(
    VALUES, st.sampled_from(['.a["b"]', '.a."b"', ".a[]", '.["a"].b[]', '.a["b"] // "0"', '.a[].b // "x"', '.a // ""'])
)
def test_paths_that_are_read_directly_give_what_libjq_gives(value: Any, query: str) -> None:
    try:
        wanted = [found for found in jq.compile(query).input_value(value) if found is not None]
    except ValueError:
        wanted = []
    assert compile_query(query)(value) == wanted
