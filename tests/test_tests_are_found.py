"""Each module's tests are where a reader looks for them; `python -m tests.test_tests_are_found PART` names them.

The tests of `a/b/c.py` are, in the first of these places where there are any:

1. `tests/a/b/test_c.py`;
2. the tests in `tests/a/b`, below or above it that import the module, or a name of it by a face;
3. `tests/a/test_b.py`, the tests of the whole folder;
4. tests whose docstring has a line `Tests: a/b/*.py`: recorded answers and whole runs that judge many modules at once.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "seatrial"
NOT_FOUND = 147
"""Modules whose tests are not found; it may only fall."""


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def modules() -> list[str]:
    """Every module but the faces, by its path."""
    return sorted(
        str(p.relative_to(SOURCE)) for p in SOURCE.rglob("*.py") if p.name not in ("__init__.py", "__main__.py")
    )


def imported_by(path: Path) -> Iterator[tuple[str, str]]:
    """Modules of Seatrial and the names that a file imports from them."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("seatrial"):
            yield from ((node.module or "", each.name) for each in node.names)
        elif isinstance(node, ast.Import):
            yield from ((each.name, "") for each in node.names if each.name.startswith("seatrial"))


@cache
def defined_in(module: str, name: str) -> str:
    """The path of the module that a name comes from, through faces that only import it."""
    path = SOURCE.joinpath(*module.split(".")[1:])
    if (path / f"{name}.py").is_file():
        return str((path / name).relative_to(SOURCE)) + ".py"
    if (path / "__init__.py").is_file():
        for source, each in imported_by(path / "__init__.py"):
            if each == name and source != module:
                return defined_in(source, name)
    return f"{path.relative_to(SOURCE)}.py"


@cache
def importers() -> dict[str, set[Path]]:
    """The test files that import each module."""
    found = defaultdict(set)
    for path in TESTS.rglob("test_*.py"):
        for module, name in imported_by(path):
            found[defined_in(module, name)].add(path)
    return found


@cache
def declared() -> list[tuple[str, Path]]:
    """The patterns of `Tests:` lines, and the files that have them."""
    return [
        (pattern, path)
        for path in TESTS.rglob("test_*.py")
        for line in (ast.get_docstring(parsed(path)) or "").splitlines()
        if line.startswith("Tests: ")
        for pattern in line.removeprefix("Tests: ").split(", ")
    ]


def is_near(folder: Path, mirrored: Path) -> bool:
    """Whether tests in a folder are on the way to the mirrored one, or below it where that is not the root."""
    return folder in (mirrored, *mirrored.parents) or (mirrored in folder.parents and mirrored != TESTS)


def files_for(module: str) -> list[Path]:
    """The test files of a module."""
    folder, stem = TESTS / Path(module).parent, Path(module).stem
    mirrored = folder / f"test_{stem}.py"
    if mirrored.is_file():
        return [mirrored]
    near = sorted(path for path in importers().get(module, ()) if is_near(path.parent, folder))
    of_folder = folder.parent / f"test_{folder.name}.py"
    return (
        near
        or ([of_folder] if of_folder.is_file() else [])
        or sorted(path for pattern, path in declared() if fnmatch(module, pattern))
    )


def test_each_module_has_its_tests_where_a_reader_looks() -> None:
    assert len([module for module in modules() if not files_for(module)]) <= NOT_FOUND


def test_a_declaration_names_modules() -> None:
    assert not [(p, path.name) for p, path in declared() if not any(fnmatch(module, p) for module in modules())]


if __name__ == "__main__":
    for module in modules():
        if sys.argv[1] in module:
            print(module, *(path.relative_to(TESTS.parent) for path in files_for(module)))
