"""The `vcsimctl` command, put together from the modules of `commands`."""

import sys
from functools import lru_cache
from typing import Annotated

import typer

import seatrial
from seatrial.model.errors import SeatrialError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Simulated clusters of any size for the Volcano scheduler, and throughput tests on them.",
    epilog="First steps: [bold]vcsimctl create cluster --config cluster.yaml[/bold], then "
    "[bold]vcsimctl run --test test-case.yaml[/bold]. Exit codes: 0 done, 1 the run says no, 2 bad usage or input.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vcsimctl {seatrial.__version__}")
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
    from seatrial.vcsim.commands import clusters, report, run

    for module in (clusters, run, report):
        module.register(app)
    return app


def main() -> None:
    """Run the command line; an expected error is one message and exit code 2, never a traceback."""
    try:
        build()()
    except SeatrialError as error:
        print(f"vcsimctl: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:
        raise SystemExit(1) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"vcsimctl: {where}{error.strerror or error}", file=sys.stderr)
        raise SystemExit(2) from None
