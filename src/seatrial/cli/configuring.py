"""The scheduler configuration that a command was given: a file, users' plugins and feature gates."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from seatrial.scheduler.config import Configuration

Gates = Annotated[str, typer.Option("--feature-gates", help="Name=true|false,…", show_default=False)]


def load(path: Path | None, plugins: Sequence[type[Any]], feature_gates: str) -> "Configuration":
    """The configuration in a file, or the default one; its warnings are printed. ConfigurationError where it is bad."""
    from seatrial.scheduler.config import load_configuration
    from seatrial.scheduler.config.files import parse_gates, read_configuration
    from seatrial.scheduler.user_plugins import known_points

    source = None if path is None else read_configuration(path)
    loaded = load_configuration(source, plugins=known_points(plugins), gates=parse_gates(feature_gates))
    for warning in loaded.warnings:
        typer.echo(f"warning: {warning}", err=True)
    return loaded


def load_or_refuse(path: Path | None, plugins: Sequence[type[Any]], feature_gates: str) -> "Configuration":
    """The same for commands that go on with it: a bad one ends them with what is wrong and where."""
    from seatrial.scheduler.config import ConfigurationError

    try:
        return load(path, plugins, feature_gates)
    except ConfigurationError as error:
        raise ConfigError("--feature-gates" if path is None else str(path), error.stage, error.message) from None
