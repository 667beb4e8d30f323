"""Options of the commands that take a scheduler configuration."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seatrial.control_plane import load_or_refuse

if TYPE_CHECKING:
    from seatrial.scheduler.config import Configuration

Gates = Annotated[str, typer.Option("--feature-gates", help="Name=true|false,…", show_default=False)]


def read_scheduler(path: Path | None, gates: str, modules: Sequence[str]) -> "tuple[Configuration, list[type[Any]]]":
    """The configuration that the options of a command give, and its plugins."""
    from seatrial.scheduler.plugins import load_plugins

    classes = load_plugins(modules)
    return load_or_refuse(path, classes, gates), classes
