"""Writes the reference pages of the site from what the program itself reads: schemas, commands, measures, docstrings.

mkdocs loads it as a hook (`mkdocs.yml`), so that the pages are made at each build and none can be out of date.
`pages()` gives them to tests.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FIELD_DEPTH = 7
OPAQUE = frozenset({"podTemplate", "volume", "object", "metadata"})
"""Fields whose type is one of Kubernetes, which `kubectl explain` explains."""


def on_files(files: Any, config: Any) -> Any:
    """Add the pages (called by mkdocs)."""
    from mkdocs.structure.files import File

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def pages() -> dict[str, str]:
    """Every page of the reference by its path in docs/."""
    return {
        "reference/scenario.md": scenario_page(),
        "reference/node-group.md": node_group_page(),
        "reference/operator-kinds.md": operator_page(),
        "reference/vcsimctl-files.md": vcsim_page(),
        "reference/commands.md": commands_page(),
        "reference/measures.md": measures_page(),
        "reference/python.md": python_page(),
        "reference/files.md": files_page(),
    }


def scenario_page() -> str:
    from seatrial.model.kind_declaration import openapi_of
    from seatrial.scenario.spec.descriptions import DESCRIPTIONS
    from seatrial.scenario.spec.kind import Scenario

    schema = openapi_of(Scenario, DESCRIPTIONS)
    return "\n".join(
        (
            "# Fields of a Scenario\n",
            "`kubectl explain scenario.spec --recursive` says the same of a running `seatrial serve`."
            " How to write one: [scenarios](../scenarios.md).\n",
            _example("first-steps/scenario.yaml"),
            *_sections(schema, "Scenario"),
        )
    )


def node_group_page() -> str:
    from seatrial.model.kind_declaration import openapi_of
    from seatrial.scenario.autoscaler.node_group import DESCRIPTIONS, NodeGroup

    return "\n".join(
        (
            "# Fields of a NodeGroup\n",
            "Nodes that the cluster-autoscaler of a Scenario adds and removes:"
            " [node groups](../controllers.md#node-groups-and-the-cluster-autoscaler).\n",
            _example("autoscaler/scenario.yaml"),
            *_sections(openapi_of(NodeGroup, DESCRIPTIONS), "NodeGroup"),
        )
    )


def operator_page() -> str:
    from seatrial.operator import definitions

    lines = [
        "# Fields of SchedulerSimulation and Simulator\n",
        "Made from the CustomResourceDefinitions. How they are used: [one-shot simulations](../operator.md).\n",
        _example("spread-or-binpack/simulation.yaml"),
    ]
    for definition in definitions():
        kind = definition["spec"]["names"]["kind"]
        schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        lines += [f"## {kind}\n", *_sections(schema, kind, "###")]
    return "\n".join(lines)


def vcsim_page() -> str:
    import msgspec

    from seatrial.vcsim import kinds

    lines = [
        "# Fields of SimulatorCluster and SimulatorJob\n",
        "The two files of `vcsimctl`: [user guide](../vcsimctl.md).\n",
        _example("vcsimctl/throughput/cluster.yaml"),
    ]
    for kind in (kinds.SimulatorCluster, kinds.SimulatorJob):
        schema = msgspec.json.schema(kind, ref_template="{name}")
        parts = schema["$defs"]
        lines += [f"## {kind.__name__}\n", f"{_sentence(kind.__doc__)}\n", TABLE_HEAD]
        lines += [_row(*row) for row in _fields(parts[kind.__name__], "", parts)]
        lines.append("")
    return "\n".join(lines)


def _example(path: str) -> str:
    """A file of examples/, which tests play."""
    text = (ROOT / "examples" / path).read_text(encoding="utf-8")
    return f"`examples/{path}`:\n\n```yaml\n{text.rstrip()}\n```\n"


TABLE_HEAD = "| field | type | meaning |\n| --- | --- | --- |"


def _sections(schema: dict[str, Any], kind: str, level: str = "##") -> Iterator[str]:
    """A table for the spec and one for the status."""
    for part in ("spec", "status"):
        inner = schema["properties"].get(part)
        if inner:
            yield f"{level} {kind}.{part}\n\n{inner.get('description', '')}\n\n{TABLE_HEAD}"
            yield from (_row(*row) for row in _fields(inner, part))
            yield ""


def _fields(schema: dict[str, Any], path: str, parts: dict[str, Any] | None = None) -> Iterator[tuple[str, str, str]]:
    """Every field below a schema: its path, its type, and what it is."""
    schema = _resolved(schema, parts)
    for name, field in schema.get("properties", {}).items():
        here = f"{path}.{name}".lstrip(".")
        field = _resolved(field, parts)
        inner = _resolved(field.get("items", {}), parts) if field.get("type") == "array" else field
        here += "[]" if field.get("type") == "array" else ""
        needed = " (required)" if name in schema.get("required", ()) else ""
        yield here, _type(field, inner) + needed, _meaning(field, inner)
        if name not in OPAQUE and here.count(".") < FIELD_DEPTH:
            yield from _fields(inner, here, parts)


def _resolved(schema: dict[str, Any], parts: dict[str, Any] | None) -> dict[str, Any]:
    for either in schema.get("anyOf", ()):
        if either.get("type") != "null":
            return {**_resolved(either, parts), **{key: value for key, value in schema.items() if key != "anyOf"}}
    if "$ref" in schema and parts is not None:
        return {**parts[schema["$ref"]], **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def _type(field: dict[str, Any], inner: dict[str, Any]) -> str:
    kind = str(inner.get("type", "any"))
    return f"list of {kind}s" if field.get("type") == "array" else kind


def _meaning(field: dict[str, Any], inner: dict[str, Any]) -> str:
    said = [str(field.get("description") or inner.get("description") or "")]
    if values := [str(value) for value in inner.get("enum", ()) if value]:
        said.append(f"One of {', '.join(values)}.")
    if field.get("default") not in (None, "", [], {}):
        said.append(f"Default: `{field['default']}`.")
    return " ".join(filter(None, said))


def _row(*cells: str) -> str:
    first, *others = (PIPE_OR_CODE.sub(_escaped, cell.replace("\n", " ")) for cell in (f"`{cells[0]}`", *cells[1:]))
    return f"| {first} | {' | '.join(others)} |"


PIPE_OR_CODE = re.compile(r"`[^`]*`|\|")


def _escaped(found: "re.Match[str]") -> str:
    """A pipe ends a cell, except inside code."""
    return "\\|" if found[0] == "|" else found[0]


def commands_page() -> str:
    from typer.main import get_command

    from seatrial.cli.main import build
    from seatrial.cli.terminal.epilogs import CLOSINGS, GROUPS, commands_of
    from seatrial.vcsim.main import build as build_vcsimctl

    lines = [
        "# Commands\n",
        "`seatrial COMMAND --help` says the same. Exit codes: 0 done, 1 the run says no (Failed, a threshold crossed,"
        " unequal), 2 wrong usage or bad input; 130, 141 and 143 where Ctrl-C, a closed pipe or SIGTERM ends the"
        " command ([all of them](environment.md)).\n",
    ]
    ordered = [name for names in GROUPS.values() for name in names]
    found = {name: _command(get_command(build()), name) for name, _ in commands_of(build())}
    for name in sorted(found, key=lambda name: (ordered.index(name.split()[0]), name)):
        lines += [f"## seatrial {name}\n", f"{_text(found[name].help)}\n"]
        examples, codes = CLOSINGS[name]
        lines += ["```text", *examples, "```\n", *_options(found[name]), f"\nExit codes: {codes}\n"]
    tree = get_command(build_vcsimctl())
    for name, _ in commands_of(build_vcsimctl()):
        command = _command(tree, name)
        lines += [f"## vcsimctl {name}\n", f"{_text(command.help)}\n", *_options(command), ""]
    return "\n".join(lines)


def _command(tree: Any, name: str) -> Any:
    for word in name.split():
        tree = tree.commands[word]
    return tree


def _options(command: Any) -> Iterator[str]:
    import typer

    context = typer.Context(command)
    yield "| option or argument | value | meaning |\n| --- | --- | --- |"
    for each in command.params:
        is_argument = each.param_type_name == "argument"
        names = each.make_metavar(context) if is_argument else ", ".join((*each.opts, *each.secondary_opts))
        value = "" if is_argument or each.is_flag else f"`{each.make_metavar(context)}`"
        _, meaning = each.get_help_record(context) or ("", "")
        yield _row(names, value, _text(meaning))


def _text(text: str | None) -> str:
    return re.sub(r"<(?=[a-z])", "&lt;", " ".join((text or "").replace("\\[", "[").split()))


def measures_page() -> str:
    from seatrial.results.measure import all_measures

    lines = [
        "# Measures\n",
        "`seatrial results RUN MEASURE` prints the table of a measure. `seatrial compare` shows its numbers, and"
        " `--fail-if` takes their names; `*` stands for a resource, a topology key, a queue or a size.\n",
        "| measure | what it is | numbers | unit | better |\n| --- | --- | --- | --- | --- |",
    ]
    for name, measure in all_measures().items():
        text = _text(inspect.getdoc(measure.table)).replace("|", "\\|")
        numbers = ", ".join(f"`{number}`" for number in measure.numbers) or "–"
        lines.append(f"| `{name}` | {text} | {numbers} | {measure.unit or '–'} | {measure.better or '–'} |")
    return "\n".join(lines) + "\n"


FILES = """\
# Files and their columns

| file | written by | content |
| --- | --- | --- |
| `result.json` | `run`, `simulate`, `Result.save` | the Scenario with its status: the timeline as KEP-140 spells it |
| `timeline.parquet` | `run`, `simulate`, `Result.save` | everything that happened, one row an entry, in order |
| `report.html` | `run`, `report` | the run as a page; opens without a network |
| `compare.html`, `junit.xml` | `compare` | the comparison as a page, the thresholds for CI |
| `sweep.parquet` | `sweep` | one row a point: values of the axes, seed, phase, numbers |
| `schedulersimulation.yaml` | `simulate` | the object with its status |

## Columns of timeline.parquet

{columns}

Measures and their tables: [measures](measures.md), [results](../results.md).
"""


def files_page() -> str:
    from seatrial.timeline.columns import COLUMNS

    rows = [f"| `{name}` | {_text(str(kind))} |" for name, kind in COLUMNS.items()]
    return FILES.replace("{columns}", "\n".join(("| column | type |", "| --- | --- |", *rows)))


def python_page() -> str:
    """Every public name of the two faces, with its signature and docstring."""
    import seatrial
    from seatrial import api, plugins

    lines = ["# Python API\n", "How it is used: [in a notebook](../how-to/notebook.md), [plugins](../plugins.md).\n"]
    for title, module, names in (("seatrial", seatrial, api.__all__), ("seatrial.plugins", plugins, plugins.__all__)):
        lines.append(f"## {title}\n")
        for name in names:
            lines += _documented(f"{title}.{name}", getattr(module, name))
    return "\n".join(lines)


def _documented(name: str, thing: Any) -> list[str]:
    signature = _signature(thing)
    lines = [f"### {name}\n", *([f"```text\n{name}{signature}\n```\n"] if signature else []), f"{_prose(thing)}\n"]
    if inspect.isclass(thing):
        for member, value in _members(thing):
            said = _sentence(inspect.getdoc(value))
            lines.append(f"- `{member}{_signature(value)}`" + (f": {said}" if said else ""))
        lines.append("")
    return lines


def _members(thing: type) -> Iterator[tuple[str, Any]]:
    for owner in reversed(thing.__mro__[:-1]):
        if owner.__module__.startswith("seatrial."):
            for member, value in vars(owner).items():
                is_shown = isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value)
                if is_shown and not member.startswith("_"):
                    yield member, getattr(value, "__func__", value)


def _signature(thing: Any) -> str:
    if isinstance(thing, property) or not callable(thing):
        return ""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    shown = [
        each.replace(default=_Elided()) if _is_long(each.default) else each
        for name, each in signature.parameters.items()
        if name not in ("self", "cls")
    ]
    text = str(signature.replace(parameters=shown))
    text = re.sub(r"\*<class '([\w.]+)'>", r"\1", text)  # Unpack of a TypedDict
    return re.sub(r"\b(seatrial|collections|pathlib|typing|polars)(\.\w+)*\.(?=\w)", "", text)


class _Elided:
    """Stands for a default value that would only fill the page."""

    def __repr__(self) -> str:
        return "…"


def _is_long(default: object) -> bool:
    return len(repr(default)) > 40 or (repr(default).startswith("<") and default is not inspect.Parameter.empty)


def _prose(thing: Any) -> str:
    return inspect.getdoc(thing) or "" if inspect.isclass(thing) or inspect.isroutine(thing) else f"`{thing!r}`"


def _sentence(text: str | None) -> str:
    return _text((text or "").partition("\n\n")[0])


if __name__ == "__main__":
    for page, content in pages().items():
        print(f"{page}: {len(content.splitlines())} lines")
