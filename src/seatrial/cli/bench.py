"""`seatrial bench …`: the benchmarks, each a module of the bench package that registers its own command."""

import importlib

import typer

COMMANDS = ("api", "outside", "ratios", "scenario", "scheduler", "ui", "volcano", "what_if")
"""Named here, so that a start of any command loads these and not what they measure."""


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(no_args_is_help=True, help="Measure Seatrial on this machine.")
    for name in COMMANDS:
        importlib.import_module(f"seatrial.bench.{name}").register(group)
    app.add_typer(group, name="bench")
