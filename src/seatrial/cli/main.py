"""The `seatrial` command, assembled from the modules of this package that register one."""

import importlib
import sys
from functools import lru_cache
from typing import Annotated

import typer

import seatrial
from seatrial.cli.terminal.epilogs import close_help
from seatrial.model.errors import SeatrialError

COMMANDS = (
    "bench",
    "capacity",
    "compare",
    "config",
    "explain",
    "operator",
    "report",
    "results",
    "run",
    "scenario_runner",
    "serve",
    "simulate",
    "snapshot",
    "sweep",
    "verify",
)
"""Modules with commands. They are named, so that a start of any command loads these and nothing else."""

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="What a Kubernetes scheduler will do, before it does it.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"seatrial {seatrial.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


@lru_cache(maxsize=1)
def build() -> typer.Typer:
    """The application with all its commands."""
    for name in COMMANDS:
        importlib.import_module(f"seatrial.cli.{name}").register(app)
    close_help(app)
    return app


def main() -> None:
    """Run the command line; an expected error is one message and exit code 2, never a traceback."""
    try:
        build()()
    except SeatrialError as error:
        print(f"seatrial: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:
        raise SystemExit(1) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"seatrial: {where}{error.strerror or error}", file=sys.stderr)
        raise SystemExit(2) from None
