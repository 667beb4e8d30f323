"""What the programs `seatrial` and `vcsimctl` have in common: the application, `--version`, and how errors end it.

Nothing is imported here that takes time: an interruption during the imports of a command must find `run`.
"""

import gc
import math
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO, cast

import seatrial

if TYPE_CHECKING:
    import typer

INTERRUPTED, CUT_OFF, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGPIPE, 128 + signal.SIGTERM
"""Exit codes of a command that a signal ends, as shells give them; CUT_OFF: the reader of its output is gone."""
HELP = frozenset({"-h", "--help", "--version"})
YOUNG_OBJECTS = 500_000
"""How many objects are made between collections of garbage; the modules of a command are made of fewer."""


Facts = Callable[[], str]
"""What `--version` says besides the version."""


def application(
    program: str, help: str, epilog: str | None = None, facts: Facts | None = None, first_steps: str = ""
) -> "typer.Typer":
    """A command line without commands; alone it prints `first_steps`, or its help where there are none."""
    import typer

    def print_version(wanted: bool) -> None:
        if wanted:
            typer.echo(_version(program, facts))
            raise typer.Exit

    app = typer.Typer(
        no_args_is_help=not first_steps,
        invoke_without_command=bool(first_steps),
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        help=help,
        epilog=epilog,
    )

    @app.callback()
    def root(
        context: typer.Context,
        version: Annotated[
            bool, typer.Option("--version", help="Print the version and exit.", callback=print_version, is_eager=True)
        ] = False,
    ) -> None:
        if context.invoked_subcommand is None:
            typer.echo(first_steps, nl=False)

    return app


def finite(value: float) -> float:
    """The callback of an option that is a number: a minimum alone lets nan and inf pass."""
    import typer

    if not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number.")
    return value


def _version(program: str, facts: Facts | None) -> str:
    return f"{program} {seatrial.__version__}" + ("" if facts is None else f" ({facts()})")


def run(program: str, build: "Callable[[], typer.Typer]", facts: Facts | None = None) -> None:
    """Run a command line; an expected error is one message and exit code 2, never a traceback."""
    # Modules and input files are read into many objects and no garbage.
    gc.set_threshold(YOUNG_OBJECTS)
    # Nothing multiplies matrices; numpy's threads for that would spin for a while after its import.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with _ends():
        try:
            from seatrial.model.errors import SeatrialError

            if sys.argv[1:] == ["--version"]:
                print(_version(program, facts))  # scripts ask for it often: no command is loaded
            else:
                build()()
        except KeyboardInterrupt:
            raise SystemExit(INTERRUPTED) from None
        except SeatrialError as error:
            _refuse(f"{program}: {error}")
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            _refuse(f"{program}: {where}{error.strerror or error}")


def _refuse(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    raise SystemExit(2) from None


class _Pipe:
    """A standard stream; a write whose reader is gone ends the command."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with self._whole():
            return self._stream.write(text)

    def flush(self) -> None:
        with self._whole():
            self._stream.flush()

    @contextmanager
    def _whole(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            # What is still in the buffer is written when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            raise SystemExit(CUT_OFF) from None


@contextmanager
def _ends() -> Iterator[None]:
    """Let SIGTERM and a closed pipe end the command through its `finally` clauses, which remove partial files."""

    def terminate(*_: object) -> None:
        raise SystemExit(TERMINATED)

    before, streams = signal.signal(signal.SIGTERM, terminate), (sys.stdout, sys.stderr)
    sys.stdout, sys.stderr = (cast(TextIO, stream and _Pipe(stream)) for stream in streams)
    try:
        yield
    finally:
        try:
            for stream in (sys.stdout, sys.stderr):
                stream and stream.flush()
        finally:
            sys.stdout, sys.stderr = streams
            signal.signal(signal.SIGTERM, before)
