"""What the programs `seatrial` and `vcsimctl` have in common: the application, `--version`, and how errors end it."""

import gc
import math
import os
import sys
from collections.abc import Callable
from typing import Annotated

import typer

import seatrial
from seatrial.model.errors import SeatrialError

YOUNG_OBJECTS = 500_000
"""How many objects are made between collections of garbage; the modules of a command are made of fewer."""


def application(
    program: str, help: str, epilog: str | None = None, facts: Callable[[], str] | None = None
) -> typer.Typer:
    """A command line without commands; `facts` gives what `--version` says besides the version."""

    def print_version(wanted: bool) -> None:
        if wanted:
            more = "" if facts is None else f" ({facts()})"
            typer.echo(f"{program} {seatrial.__version__}{more}")
            raise typer.Exit

    app = typer.Typer(
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        help=help,
        epilog=epilog,
    )

    @app.callback()
    def root(
        version: Annotated[
            bool, typer.Option("--version", help="Print the version and exit.", callback=print_version, is_eager=True)
        ] = False,
    ) -> None:
        pass

    return app


def finite(value: float) -> float:
    """The callback of an option that is a number: a minimum alone lets nan and inf pass."""
    if not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number.")
    return value


def run(program: str, build: Callable[[], typer.Typer]) -> None:
    """Run a command line; an expected error is one message and exit code 2, never a traceback."""
    # Modules and input files are read into many objects and no garbage.
    gc.set_threshold(YOUNG_OBJECTS)
    # Nothing multiplies matrices; numpy's threads for that would spin for a while after its import.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        build()()
    except SeatrialError as error:
        print(f"{program}: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:
        raise SystemExit(1) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"{program}: {where}{error.strerror or error}", file=sys.stderr)
        raise SystemExit(2) from None
