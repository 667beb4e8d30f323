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
from seatrial.cli.terminal.epilogs import CLOSINGS, GROUPS, commands_of
from seatrial.cli.terminal.tables import UNBOUNDED, answer_console, print_table
from seatrial.whatif import COLUMNS
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
def test_help_begins_with_examples_and_ends_with_exit_codes(name: str) -> None:
    text = call(*name.split(), "--help")
    told = " ".join(text.split())
    assert f"seatrial {name}" in told.partition("Example")[2]
    assert re.search(r"Exit codes: 0.*$", told)
    assert text.index("\nExample") < text.index("\n  -h, --help" if "  -h, --help" in text else "\n  --help")


@pytest.mark.parametrize("width", ["80", "60"])
@pytest.mark.parametrize("name", NAMES)
def test_help_cuts_no_name_of_an_option(name: str, width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", width)
    command = get_command(build())
    for word in name.split():
        assert isinstance(command, TyperGroup)
        command = command.commands[word]
    words = set(re.split(r"[\s,]+", call(*name.split(), "--help")))
    assert {option for parameter in command.params for option in parameter.opts if option.startswith("-")} <= words


def test_every_command_has_a_task() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COMMANDS)


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
    print_table(console, ["first", "empty", "number", "last"], rows, "x")
    shown = console.export_text().split()
    assert shown[:6] == ["first", "number", "a" * 12, "1", "c", "0"]
    assert " ".join(shown[6:]) == "… no room for last: x"
    console.file.close()


@pytest.mark.parametrize("vital", ["node", "reason", "skew"])
def test_the_column_that_a_table_exists_for_stays(vital: str) -> None:
    console = Console(width=30, record=True, file=Path("/dev/null").open("w"))  # noqa: SIM115
    print_table(console, ["first", "second", vital], [["a" * 12, "b" * 12, 7]])
    text = console.export_text()
    assert vital in text.splitlines()[0] and "… no room for second: a wider terminal" in " ".join(text.split())
    console.file.close()


def test_eighty_columns_have_room_for_the_answer_of_a_what_if() -> None:
    console = Console(width=80, record=True, file=Path("/dev/null").open("w"))  # noqa: SIM115
    row = ["kube-system", "StatefulSet", "network", 126, 126, 124, 1220, 124, 2, 0, 2]
    print_table(console, COLUMNS[:-1], [row])
    shown = console.export_text().splitlines()[0].split()
    assert shown == ["namespace", "kind", "name", "wanted", "ready_min", "ready_end", "pending", "lost"]
    console.file.close()


@pytest.mark.parametrize(("columns", "width"), [("", UNBOUNDED), ("60", 60)])
def test_lines_in_a_pipe_are_as_long_as_they_need_to_be(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else a script reads half of a name, and grep finds half of a sentence."""
    monkeypatch.setenv("COLUMNS", columns)
    console = answer_console()
    assert console.width == width
    print_table(console, ["first", "second", "third"], [["a" * 40, "b" * 40, "c" * 40]])
    shown = capsys.readouterr().out.splitlines()
    assert (shown[0].split() == ["first", "second", "third"]) is (columns == "")
