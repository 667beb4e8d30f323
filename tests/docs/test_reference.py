"""The reference has every option, field, measure, public name and variable, and none that does not exist."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from typer.main import get_command

import seatrial
from seatrial import api, plugins
from seatrial.cli.main import build
from seatrial.cli.terminal.epilogs import commands_of
from seatrial.model.kind_declaration import openapi_of
from seatrial.operator import definitions
from seatrial.results.measure import all_measures
from seatrial.scenario.autoscaler import NodeGroup
from seatrial.scenario.spec.kind import Scenario
from seatrial.timeline.columns import COLUMNS
from seatrial.vcsim.kinds import SimulatorCluster, SimulatorJob
from seatrial.vcsim.main import build as build_vcsimctl
from tests.docs.blocks import ROOT
from tests.scripts import load_script

OPAQUE = {"podTemplate", "volume", "object", "metadata"}


@cache
def page(name: str) -> str:
    return str(load_script("reference").pages()[f"reference/{name}.md"])


def first_cells(text: str) -> list[str]:
    """The code in the first column of every table."""
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


@pytest.mark.parametrize("program", ["seatrial", "vcsimctl"])
def test_every_command_and_option_is_listed_and_no_other(program: str) -> None:
    app = build() if program == "seatrial" else build_vcsimctl()
    tree: Any = get_command(app)
    sections = dict(
        re.findall(rf"^## {program} ([^\n]*)\n(.*?)(?=^## |\Z)", page("commands"), re.MULTILINE | re.DOTALL)
    )
    assert sorted(sections) == sorted(name for name, _ in commands_of(app))
    for name, section in sections.items():
        command = tree
        for word in name.split():
            command = command.commands[word]
        known = {option for each in command.params for option in (*each.opts, *each.secondary_opts) if "-" in option}
        listed = {option for cell in first_cells(section) for option in cell.split(", ") if option.startswith("-")}
        assert {option for option in known if option.startswith("-")} == listed, name


def fields(schema: dict[str, Any], path: str) -> Iterator[str]:
    for name, field in schema.get("properties", {}).items():
        inner = field.get("items", {}) if field.get("type") == "array" else field
        here = f"{path}.{name}" + ("[]" if field.get("type") == "array" else "")
        yield here
        if name not in OPAQUE:
            yield from fields(inner, here)


def test_every_field_of_a_scenario_is_listed_and_no_other() -> None:
    schema = openapi_of(Scenario)["properties"]
    known = {field for part in ("spec", "status") for field in fields(schema[part], part) if field.count(".") <= 7}
    assert set(first_cells(page("scenario"))) == known


def test_every_field_of_a_node_group_is_listed_and_no_other() -> None:
    assert set(first_cells(page("node-group"))) == set(fields(openapi_of(NodeGroup)["properties"]["spec"], "spec"))


def test_every_field_of_the_files_of_vcsimctl_is_listed_and_no_other() -> None:
    known = [field.lstrip(".") for kind in (SimulatorCluster, SimulatorJob) for field in fields(openapi_of(kind), "")]
    assert sorted(first_cells(page("vcsimctl-files"))) == sorted(known)


@pytest.mark.parametrize("name", ["scenario", "node-group", "operator-kinds"])
def test_every_field_says_what_it_is(name: str) -> None:
    rows = re.findall(r"^\| `([^`]+)` \| [^|]* \|(.*)\|$", page(name), re.MULTILINE)
    assert [field for field, meaning in rows if not meaning.strip()] == []


def test_every_field_of_the_operators_kinds_is_listed_and_no_other() -> None:
    known = []
    for definition in definitions():
        schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
        known += [field for part in ("spec", "status") for field in fields(schema[part], part)]
    assert sorted(first_cells(page("operator-kinds"))) == sorted(known)


def test_every_measure_and_column_is_listed_and_no_other() -> None:
    assert first_cells(page("measures")) == list(all_measures())
    assert first_cells(page("files").partition("## Columns of timeline.parquet")[2]) == list(COLUMNS)


@pytest.mark.parametrize(("module", "names"), [("seatrial", api.__all__), ("seatrial.plugins", plugins.__all__)])
def test_every_public_name_is_listed_and_no_other(module: str, names: list[str]) -> None:
    listed = re.findall(rf"^### {re.escape(module)}\.(\w+)$", page("python"), re.MULTILINE)
    assert listed == list(names)
    assert module != "seatrial" or set(names) <= set(dir(seatrial))


def test_every_variable_of_ours_is_listed_and_no_other() -> None:
    source = "\n".join(path.read_text() for path in (ROOT / "src" / "seatrial").rglob("*.py"))
    read = set(re.findall(r'^VARIABLE = "([A-Z_]+)"', source, re.MULTILINE))
    assert len(read) >= 4
    listed = first_cells((ROOT / "docs" / "reference" / "environment.md").read_text())
    assert {name for name in listed if name.startswith(("SEATRIAL_", "UPDATE_"))} == read


def test_no_signature_prints_the_values_of_the_program() -> None:
    """Such as a table of all feature gates, which a search would find first."""
    shown = re.findall(r"^```text\n(.*?)\n```$", page("python"), re.MULTILINE | re.DOTALL)
    assert len(shown) > 20
    assert max(map(len, shown)) < 700
    assert not re.search("at 0x|<factory>|<class|<function", page("python"))


def test_choices_of_an_option_are_shown_without_backslashes() -> None:
    assert "`<upstream|name|random>`" in page("commands")
    assert not re.search(r"`[^`\n]*\\\|[^`\n]*`", page("commands"))
