"""The rules of the house that no linter knows: length, names, and no clock or dice in the inner rooms.

Each rule is one test over all files, and its failure lists every place that breaks it.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

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
FILES = {str(path.relative_to(SOURCE)): path.read_text() for path in sorted(SOURCE.rglob("*.py"))}


@cache
def parsed(name: str) -> ast.Module:
    return ast.parse(FILES[name])


def code_lines(text: str) -> int:
    """Lines that are neither blank nor comment."""
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("#"))


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function with the name of its file."""
    for name in FILES:
        for node in ast.walk(parsed(name)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield name, node


def body_length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its signature and docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_a_folder_has_few_modules() -> None:
    folders = [path for path in SOURCE.rglob("*") if path.is_dir()]
    sizes = {str(folder): len([path for path in folder.glob("*.py") if path.stem != "__init__"]) for folder in folders}
    assert not {folder: size for folder, size in sizes.items() if size > MOST_MODULES}


def test_a_file_reads_in_one_sitting() -> None:
    sizes = {name: code_lines(text) for name, text in FILES.items()}
    assert not {name: size for name, size in sizes.items() if size > LONGEST_FILE}


def test_a_function_does_one_thing() -> None:
    sizes = {(name, function.name): body_length(function) for name, function in functions()}
    assert not {place: size for place, size in sizes.items() if size > LONGEST_FUNCTION}


def test_names_say_what_they_are() -> None:
    names = [(name, Path(name).stem) for name in FILES] + [(name, function.name) for name, function in functions()]
    assert not [(file, name) for file, name in names if BANNED_NAMES.search(name)]


def test_a_module_says_why_it_exists() -> None:
    assert not [name for name in FILES if not ast.get_docstring(parsed(name))]


def test_inner_rooms_have_no_clock_and_no_dice() -> None:
    inner = {name: text for name, text in FILES.items() if name.split("/")[0] in INNER_ROOMS and name not in REAL_TIME}
    assert not [
        (name, line) for name, text in inner.items() for line in text.splitlines() if CLOCKS_AND_DICE.search(line)
    ]


def test_no_module_keeps_anything_of_a_run() -> None:
    """A cache of a module is for pure functions of small values: what is kept of a run's objects has an owner."""
    assert not [name for name in FILES for _ in global_tables(parsed(name))]
    found = {(name, function.name) for name in FILES for function in cached_by_large_values(parsed(name))}
    assert found == set(LARGE_BUT_PURE)


def test_caches_are_few() -> None:
    """What is remembered costs memory and reading: a cache outside the store saves well over a microsecond a call."""
    found = [name for name in FILES if not name.startswith("store/") for _ in caches(parsed(name))]
    assert len(found) <= MOST_CACHES


LARGE_BUT_PURE = {
    ("results/lifecycles.py", "amounts_of"): "the resources of a node, encoded",
    ("results/lifecycles.py", "requests_of_pod"): "the requests of a pod, encoded",
    ("scheduler/volumes/node_terms.py", "_parsed"): "a node selector, encoded",
    ("store/validation/pods/pod_specs.py", "_remembered"): "a spec, whose faults are the same in each store",
    ("timeline/attempt_lists.py", "tried_in"): "a step, encoded",
}
"""Cached functions of a module whose arguments are encoded, and why that is no object of a run."""
LARGE = re.compile(r"\b(bytes|Document|Stored|Change|dict|list|Mapping|Sequence)\b")
TABLES = {"Memo", "WeakValueDictionary", "WeakKeyDictionary"}
MOST_CACHES = 49


def caches(module: ast.Module) -> Iterator[ast.AST]:
    """Bounded tables and functions that remember by their arguments; without arguments, it is data read once."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and ast.unparse(node.func).partition("(")[0] in (*TABLES, "lru_cache"):
            if not isinstance(node.func, ast.Name) or node.func.id in TABLES:
                yield node
        elif isinstance(node, ast.FunctionDef) and ast.unparse(node.args):
            yield from [d for d in node.decorator_list if re.match(r"(lru_)?cache\b", ast.unparse(d))]


def global_tables(module: ast.Module) -> Iterator[ast.stmt]:
    for statement in module.body:
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        if isinstance(value, ast.Call) and ast.unparse(value.func) in TABLES:
            yield statement


def cached_by_large_values(module: ast.Module) -> Iterator[ast.FunctionDef]:
    for function in module.body:
        if isinstance(function, ast.FunctionDef) and any("cache" in ast.unparse(d) for d in function.decorator_list):
            given = function.args
            arguments = [*given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
            if any(LARGE.search(ast.unparse(each.annotation)) for each in arguments if each.annotation is not None):
                yield function
