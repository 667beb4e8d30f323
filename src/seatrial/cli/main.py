"""The `seatrial` command, assembled from the modules of this package that register one."""

import importlib
from functools import lru_cache

import typer

from seatrial import command_line
from seatrial.cli.terminal.epilogs import close_help

PROGRAM = "seatrial"

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


@lru_cache(maxsize=1)
def build() -> typer.Typer:
    """The application with all its commands."""
    app = command_line.application(PROGRAM, "What a Kubernetes scheduler will do, before it does it.", facts=_kernel)
    for name in COMMANDS:
        importlib.import_module(f"seatrial.cli.{name}").register(app)
    close_help(app)
    return app


def _kernel() -> str:
    from seatrial.scheduler.evaluator import kernel_in_use

    return kernel_in_use()


def main() -> None:
    """Run the command line."""
    command_line.run(PROGRAM, build)
