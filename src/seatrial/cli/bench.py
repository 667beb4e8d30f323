"""`seatrial bench …`: every module of the bench room registers its own command here."""

import importlib
import pkgutil

import typer


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    from seatrial import bench

    group = typer.Typer(no_args_is_help=True, help="Measure Seatrial on this machine.")
    for module in sorted(pkgutil.iter_modules(bench.__path__), key=lambda found: found.name):
        command = getattr(importlib.import_module(f"seatrial.bench.{module.name}"), "register", None)
        if command is not None:
            command(group)
    app.add_typer(group, name="bench")
