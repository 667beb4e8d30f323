"""Configuration as it comes from a command line: a file, and feature gates as kube-scheduler's flag spells them."""

from pathlib import Path

from seatrial.model.errors import ConfigError
from seatrial.store.input_files import read_input


def read_configuration(path: Path) -> str:
    """The text of a configuration file; ConfigError where it cannot be read."""
    try:
        return read_input(path)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "expected UTF-8 text"
        raise ConfigError(str(path), "", f"cannot be read: {why}") from error
    except ValueError as error:
        raise ConfigError("", "", str(error)) from error


def parse_gates(text: str) -> dict[str, bool]:
    """The gates of `Name=true,Other=false`."""
    gates = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if value.lower() not in ("true", "false"):
            raise ConfigError("--feature-gates", part, "expected Name=true or Name=false")
        gates[name.strip()] = value.lower() == "true"
    return gates
