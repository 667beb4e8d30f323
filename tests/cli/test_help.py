"""What a stranger reads first: the end of every command's help, and tables in a narrow terminal."""

import re
import shlex
from pathlib import Path

import pytest
from rich.console import Console
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from seatrial import cli
from seatrial.cli.main import COMMANDS, build
from seatrial.cli.terminal.epilogs import CLOSINGS, commands_of
from seatrial.cli.terminal.tables import print_table
from tests.examples.playing import examples

NAMES = sorted(name for name, _ in commands_of(build()))


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def call(*arguments: str) -> str:
    result = CliRunner().invoke(build(), list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_every_module_with_a_command_is_named() -> None:
    room = Path(cli.__file__).parent
    modules = {path.stem for path in room.glob("*.py") if "def register(" in path.read_text()}
    assert modules == set(COMMANDS.values())


def test_every_command_is_in_the_module_that_is_loaded_for_it() -> None:
    assert sorted({name.partition(" ")[0] for name in NAMES}) == sorted(COMMANDS)
    for command in COMMANDS:
        assert command in {name.partition(" ")[0] for name, _ in commands_of(build(command))}, command
    assert sorted(name for name, _ in commands_of(build("no-such-command"))) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_help_ends_with_examples_and_exit_codes(name: str) -> None:
    told = " ".join(call(*name.split(), "--help").split())
    assert f"seatrial {name}" in told.partition("Example")[2]
    assert re.search(r"Exit codes: 0.*$", told)


@pytest.mark.parametrize("name", NAMES)
def test_examples_can_be_copied(name: str) -> None:
    """A long one stays on its line, whatever the width of the terminal."""
    lines = [line.strip() for line in call(*name.split(), "--help").splitlines()]
    assert set(CLOSINGS[name][0]) <= set(lines)


@pytest.mark.parametrize("name", NAMES)
def test_the_options_in_examples_exist(name: str) -> None:
    command = get_command(build())
    for word in name.split():
        assert isinstance(command, TyperGroup)
        command = command.commands[word]
    known = {option for parameter in command.params for option in parameter.opts}
    for example in CLOSINGS[name][0]:
        if example.startswith(f"seatrial {name}"):
            assert {word for word in shlex.split(example) if re.match("--?[a-z]", word)} <= known


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two runs with different configurations, in folders with long names."""
    folder = tmp_path_factory.mktemp("runs")
    chosen = [example for example in examples() if example.folder.name == "spread-or-binpack"]
    for example in chosen:
        example.run(folder / f"{example.name}-with-a-long-name")
    return [str(folder / f"{example.name}-with-a-long-name") for example in chosen]


@pytest.mark.parametrize("command", ["results", "compare", "measures"])
def test_tables_fit_into_eighty_columns_and_cut_nothing(command: str, runs: list[str], tmp_path: Path) -> None:
    arguments = {"results": runs[:1], "compare": [*runs, "--out", str(tmp_path)], "measures": []}[command]
    told = call(command, *arguments)
    lines = [line for line in told.splitlines() if not line.startswith("written")]
    assert max(len(line.rstrip()) for line in lines) <= 80
    assert not [line for line in lines if "…" in line and not line.lstrip().startswith("…")]


def test_columns_without_room_are_named() -> None:
    console = Console(width=30, record=True, file=Path("/dev/null").open("w"))  # noqa: SIM115
    rows: list[list[object]] = [["a" * 12, None, 1, "b" * 12], ["c", None, 0.1 + 0.2 - 0.3, "d"]]
    assert print_table(console, ["first", "empty", "number", "last"], rows) == ["last"]
    assert console.export_text().split() == ["first", "number", "a" * 12, "1", "c", "0"]
    console.file.close()
