"""The rules of the house that no linter knows: length, names, and no clock or dice in the inner rooms."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "seatrial"
INNER_ROOMS = ("model", "store", "clock", "scheduler", "volcano", "controllers", "scenario", "timeline")
LONGEST_FILE = 400
LONGEST_FUNCTION = 50
MOST_MODULES = 20
BANNED_NAMES = re.compile(r"^(utils?|helpers?|common|manager|misc|base2)$|^(do_|handle_)")
REAL_TIME = {"clock/real.py"}
CLOCKS_AND_DICE = re.compile(
    r"\b(time\.(time|monotonic|perf_counter)(_ns)?\(|datetime\.(now|utcnow|today)\(|random\.\w+\(|uuid\.uuid[14]\()"
)
FILES = sorted(SOURCE.rglob("*.py"))


FOLDERS = sorted(folder for folder in SOURCE.rglob("*") if any(folder.glob("*.py")))


def name_of(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def code_lines(text: str) -> int:
    """Lines that are neither blank nor comment."""
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("#"))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def body_length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its signature and docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_a_folder_can_be_read_at_a_glance(folder: Path) -> None:
    modules = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= MOST_MODULES


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_reads_in_one_sitting(path: Path) -> None:
    assert code_lines(path.read_text()) <= LONGEST_FILE


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_function_does_one_thing(path: Path) -> None:
    long = {f.name: body_length(f) for f in functions(ast.parse(path.read_text())) if body_length(f) > LONGEST_FUNCTION}
    assert not long


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_names_say_what_they_are(path: Path) -> None:
    names = [path.stem, *(f.name for f in functions(ast.parse(path.read_text())))]
    assert not [name for name in names if BANNED_NAMES.search(name)]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_module_says_why_it_exists(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("path", [p for p in FILES if name_of(p).split("/")[0] in INNER_ROOMS], ids=name_of)
def test_inner_rooms_have_no_clock_and_no_dice(path: Path) -> None:
    if name_of(path) in REAL_TIME:
        return
    found = [line for line in path.read_text().splitlines() if CLOCKS_AND_DICE.search(line)]
    assert not found
