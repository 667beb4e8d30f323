"""The help of a command as plain text: examples first, options by task, and no name cut at any width.

Rich's tables give each option a row of four columns; at 80 columns they cut names and leave the text 18 characters.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from seatrial.model.errors import ConfigError

INDENT, TEXT = "  ", " " * 6
WIDEST = 100
"""Lines of running text are not longer than this, however wide the terminal is."""
OTHERS = "Other options"
TASKS = {
    "Cluster": (
        "--snapshot", "--unbind", "--unbind-order", "--prices", "--pool-label", "--now", "--pool", "--selector",
        "--kubeconfig", "--context", "--kubernetes-version", "--scenario", "--node", "--data-dir",
    ),
    "Scheduler": (
        "--scheduler-config", "--volcano-config", "--volcano", "--feature-gates", "--plugins", "--controllers",
        "--outside", "--outside-timeout", "--explain-with-model", "--seed", "--seeds", "--tie-break",
    ),
    "Result": (
        "--out", "--report", "--record", "--cells", "--full-repeat", "--json", "--csv", "--parquet", "--format",
        "--output", "--junit", "--fail-if", "--measure", "--measures", "--quiet", "--print",
    ),
}  # fmt: skip
"""The task of an option, by its name, which means the same in every command."""
ONCE = frozenset({"--kubernetes-version"})
"""Options that some commands take several times: the others refuse that instead of taking the last one."""


@dataclass(frozen=True, slots=True)
class Closing:
    """What the help of a command says besides its options."""

    examples: Sequence[str] = ()
    exit_codes: str = ""


class HelpCommand(TyperCommand):
    """A command with plain help."""

    closing = Closing()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, found = self.make_parser(ctx).parse_args(list(args))
        for option in found:
            if option.opts[0] in ONCE and not option.multiple and found.count(option) > 1:
                raise ConfigError("", option.opts[0], f"expected once, got {found.count(option)} times")
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _print(ctx, self, self.closing.examples)
        for title, parameters in _by_task(self.get_params(ctx)):
            _heading(title)
            for parameter in parameters:
                _parameter(parameter, ctx)
        if self.closing.exit_codes:
            typer.echo()
            _paragraph(f"Exit codes: {self.closing.exit_codes}")


class HelpGroup(TyperGroup):
    """A command with commands, listed by task."""

    tasks: ClassVar[dict[str, tuple[str, ...]]] = {}
    examples: Sequence[str] = ()

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _print(ctx, self, self.examples)
        listed = {name for names in self.tasks.values() for name in names}
        rest = tuple(name for name in self.list_commands(ctx) if name not in listed)
        for title, names in {**self.tasks, "Commands" if not self.tasks else "Other commands": rest}.items():
            known = [name for name in names if self.get_command(ctx, name) is not None]
            if known:
                _heading(title)
            for name in known:
                command = self.get_command(ctx, name)
                assert command is not None
                _entry(name, (command.help or "").partition("\n\n")[0])
        _heading("Options")
        for parameter in self.get_params(ctx):
            _parameter(parameter, ctx)


def _print(ctx: Any, command: Any, examples: Sequence[str]) -> None:
    """Usage, purpose and examples, each example on one line so that it can be copied."""
    typer.echo(" ".join(("Usage:", ctx.command_path, *command.collect_usage_pieces(ctx))))
    for paragraph in (command.help or "").split("\n\n"):
        typer.echo()
        _paragraph(paragraph)
    if examples:
        _heading("Examples" if len(examples) > 1 else "Example")
    for example in examples:
        typer.echo(INDENT + example)


def _by_task(parameters: Iterable[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Arguments, then options by task; a single group is called Options."""
    parameters = list(parameters)
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    options = [each for each in parameters if each.param_type_name != "argument" and not each.hidden]
    grouped: dict[str, list[Any]] = {"Arguments": arguments, **{task: [] for task in TASKS}, OTHERS: []}
    for option in options:
        task = next((task for task, names in TASKS.items() if not {*names}.isdisjoint(option.opts)), OTHERS)
        grouped[task].append(option)
    filled = {title: each for title, each in grouped.items() if each}
    if set(filled) <= {"Arguments", OTHERS} and OTHERS in filled:
        filled["Options"] = filled.pop(OTHERS)
    yield from filled.items()


def _parameter(parameter: Any, ctx: Any) -> None:
    """The names of a parameter, and what it is for with its default and its range."""
    names, purpose = parameter.get_help_record(ctx) or ("", "")
    if parameter.param_type_name != "argument":
        names = f"{', '.join((*parameter.opts, *parameter.secondary_opts))}"
        names += "" if parameter.is_flag or parameter.count else f" {parameter.make_metavar(ctx)}"
    _entry(names, purpose.replace("\\[", "["))


def _heading(title: str) -> None:
    typer.echo()
    typer.secho(f"{title}:", bold=True)


def _entry(name: str, purpose: str) -> None:
    typer.echo(INDENT + name)
    _paragraph(" ".join(purpose.split()), TEXT)


def _paragraph(text: str, indent: str = "") -> None:
    width = min(get_terminal_size().columns, WIDEST)
    lines = wrap(text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
    typer.echo("\n".join(lines))
