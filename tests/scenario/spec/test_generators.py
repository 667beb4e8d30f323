"""Generators: many operations in few lines, expanded before anything runs."""

from pathlib import Path
from typing import Any

import pytest

from seatrial.model.errors import ConfigError
from seatrial.scenario.spec.placeholders import Template
from seatrial.scenario.spec.plan import expand_and_number
from tests.scenario.playing import create, node, operations, pod


def expanded(*generators: dict[str, Any], folder: Path | None = None) -> list[dict[str, Any]]:
    _, planned = expand_and_number({"spec": {**operations(), "generators": list(generators)}}, folder)
    return [item.document() for item in planned]


def test_count_makes_copies_with_an_index() -> None:
    made = expanded({"id": "node", "step": 1, "count": 3, "createOperation": {"object": node("n-${index:03d}")}})
    assert [item["id"] for item in made] == ["node-0", "node-1", "node-2"]
    assert [item["createOperation"]["object"]["metadata"]["name"] for item in made] == ["n-000", "n-001", "n-002"]


def test_spread_deals_copies_out_over_steps() -> None:
    made = expanded({"step": 2, "count": 6, "spread": {"steps": 3, "every": 2}, "createOperation": {"object": {}}})
    assert [item["step"] for item in made] == [2, 2, 4, 4, 6, 6]


def test_a_file_gives_one_create_per_object(tmp_path: Path) -> None:
    items = "[{apiVersion: v1, kind: B}, {apiVersion: v1, kind: C}]"
    (tmp_path / "cluster.yaml").write_text(f"{{apiVersion: v1, kind: A}}\n---\nkind: List\nitems: {items}\n")
    made = expanded({"step": 1, "from": {"file": "cluster.yaml"}}, folder=tmp_path)
    assert [item["createOperation"]["object"]["kind"] for item in made] == ["A", "B", "C"]


def test_a_csv_gives_one_operation_per_row(tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text("arrival,cpu\n10,500m\n130,2\n")
    body = {"object": {"cpu": "${cpu}", "name": "p-${index}"}}
    generator = {"step": "${=arrival // 60}", "from": {"csv": "trace.csv"}, "createOperation": body}
    made = expanded(generator, folder=tmp_path)
    assert [(item["step"], item["createOperation"]["object"]) for item in made] == [
        (0, {"cpu": "500m", "name": "p-0"}),
        (2, {"cpu": "2", "name": "p-1"}),
    ]


def test_plain_operations_come_before_generated_ones() -> None:
    spec = operations(create(1, pod("a")))
    spec["generators"] = [{"step": 1, "count": 1, "createOperation": {"object": pod("b")}}]
    _, planned = expand_and_number({"spec": spec})
    assert [item.document()["createOperation"]["object"]["metadata"]["name"] for item in planned] == ["a", "b"]


def test_generated_events_have_their_discriminator() -> None:
    spec = {"events": [], "generators": [{"step": 1, "count": 1, "createOperation": {"object": {}}}]}
    _, planned = expand_and_number({"spec": spec})
    assert planned[0].document()["operation"] == "Create"


@pytest.mark.parametrize(
    ("generator", "said"),
    [
        ({"step": 1, "createOperation": {}}, "expected count or from"),
        ({"step": 1, "count": 1}, "expected one of createOperation"),
        ({"step": 1, "from": {"file": "x.yaml"}}, "files are read by `seatrial run` only"),
        ({"step": 1, "count": 1, "createOperation": {"object": "${nobody}"}}, "${nobody} is not known here"),
        ({"step": 1, "count": 1, "createOperation": {"object": "${index ** 2}"}}, "only names, whole numbers"),
        ({"step": "x", "count": 1, "createOperation": {}}, "step: expected a whole number"),
        ({"step": 1, "count": 1, "createOperation": {"object": "${index:9999999999d}"}}, "layout '9999999999d'"),
        ({"step": 1, "count": 1, "createOperation": {"object": "${index:>9}"}}, "layout '>9' is not known"),
        ({"step": 1, "count": 1, "createOperation": {"object": "${=1//0}"}}, "${=1//0}: division by zero (row 0)"),
        ({"step": "${=index % 0}", "count": 1, "createOperation": {}}, "${=index % 0}: division by zero"),
    ],
)
def test_a_generator_that_makes_no_sense_is_named(generator: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        expanded(generator)
    assert str(caught.value).startswith("spec.generators[0]")
    assert said in str(caught.value)


@pytest.mark.parametrize("step", ["${=index*1000000000}", 2**31])
def test_a_generated_step_that_is_too_large_is_refused(step: Any) -> None:
    with pytest.raises(ConfigError, match=r"^spec.generators\[0\].step: the last step is 2147483647, got"):
        expanded({"step": step, "count": 4, "createOperation": {"object": {}}})


def test_a_spread_does_not_reach_beyond_the_last_step() -> None:
    spread = {"steps": 2, "every": 2**31}
    with pytest.raises(ConfigError, match=r"^spec.generators\[0\].step: the last step is"):
        expanded({"step": 1, "count": 2, "spread": spread, "createOperation": {"object": {}}})


def test_what_is_generated_must_be_an_operation() -> None:
    with pytest.raises(ConfigError, match=r"^spec.generators\[0\].createOperation.object: Expected `object"):
        expanded({"step": 1, "count": 1, "createOperation": {"object": "a pod"}})


def test_generators_make_a_bounded_number_of_operations() -> None:
    few = {"step": 1, "count": 2, "createOperation": {"object": {}}}
    why = r"^spec.generators\[1\].count: a scenario has at most 10000000 operations, got 1000000000002$"
    with pytest.raises(ConfigError, match=why):
        expanded(few, {**few, "count": 10**12})


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${index}", '"7"'),
        ("a-${index % 3}-${index:04d}", '"a-1-0007"'),
        ("${=index * 2}", "14"),
        ("$${index}", '"${index}"'),
        ("plain", '"plain"'),
    ],
)
def test_placeholders_become_text_or_numbers(text: str, filled: str) -> None:
    assert Template(text).fill({"index": 7}).decode() == filled


def test_a_column_named_object_is_a_column_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text("object\nball\n")
    generator = {"step": 1, "from": {"csv": "trace.csv"}, "createOperation": {"object": {"name": "${object}"}}}
    assert expanded(generator, folder=tmp_path)[0]["createOperation"] == {"object": {"name": "ball"}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n1\n", "trace.csv: line 3: expected 2 values, got 1"),
        ("a,b\n1,2,3\n", "trace.csv: line 2: expected 2 values, got 3"),
        ("a,index\n1,2\n", "trace.csv: a column cannot be named index"),
        ("a,a\n1,2\n", "trace.csv: two columns have the same name"),
    ],
)
def test_a_table_that_does_not_fit_its_header_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "trace.csv").write_text(text)
    generator = {"step": 1, "from": {"csv": "trace.csv"}, "createOperation": {"object": {}}}
    with pytest.raises(ConfigError) as caught:
        expanded(generator, folder=tmp_path)
    assert said in str(caught.value)
