"""Loads the scheduler configuration that a command was given: a file, out-of-tree plugins and feature gates."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from seatrial.scheduler.config import Configuration
    from seatrial.scheduler.versions import Version

OWN = "a plugin of your own comes with --plugins FILE"


def load(path: Path | None, plugins: Sequence[type[Any]], feature_gates: str, version: str = "") -> "Configuration":
    """The configuration in a file, or the default one; its warnings are printed. ConfigurationError where it is bad."""
    from seatrial.scheduler.config import ConfigurationError, load_configuration, read_configuration
    from seatrial.scheduler.plugins import known_points
    from seatrial.scheduler.versions import DEFAULT, find_version

    kubernetes = find_version(version) if version else DEFAULT
    gates = _gates(feature_gates, kubernetes)
    source = None if path is None else read_configuration(path)
    try:
        loaded = load_configuration(source, plugins=known_points(plugins), gates=gates, version=kubernetes)
    except ConfigurationError as error:
        if not error.unknown_plugin:
            raise
        raise ConfigurationError(error.stage, [f"{problem} ({OWN})" for problem in error.problems]) from None
    for warning in loaded.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    return loaded


def _gates(text: str, version: "Version") -> dict[str, bool]:
    """The gates of the flag, which is named where one cannot be had."""
    from seatrial.scheduler.config import effective_gates, parse_gates

    gates = parse_gates(text)
    try:
        effective_gates(gates, version)
    except ConfigError as error:
        raise ConfigError("", "--feature-gates", error.why) from None
    return gates


def load_or_refuse(
    path: Path | None, plugins: Sequence[type[Any]], feature_gates: str, version: str = ""
) -> "Configuration":
    """The same for commands that go on with it: a bad one ends them with what is wrong and where."""
    from seatrial.scheduler.config import ConfigurationError

    try:
        return load(path, plugins, feature_gates, version)
    except ConfigurationError as error:
        raise ConfigError("--feature-gates" if path is None else str(path), error.stage, error.message) from None
