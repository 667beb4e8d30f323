"""The `seatrial` command: every other module of this room is one command and registers itself here."""

import importlib
import pkgutil
import sys
from functools import lru_cache
from typing import Annotated

import typer

import seatrial
from seatrial import cli
from seatrial.model.errors import SeatrialError

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
    names = sorted(module.name for module in pkgutil.iter_modules(cli.__path__) if module.name != "main")
    for name in names:
        register = getattr(importlib.import_module(f"seatrial.cli.{name}"), "register", None)
        if register is not None:
            register(app)
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
