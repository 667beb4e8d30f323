"""What is wrong with a configuration, worded as upstream's field errors are.

Upstream: apimachinery/pkg/util/validation/field/errors.go and pkg/util/errors (v0.36.3).
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from seatrial.model.errors import SeatrialError

Stage = Literal["decode", "validate", "build"]


class ConfigurationError(SeatrialError):
    """A refused configuration: at which stage of kube-scheduler's start, and every problem found there."""

    def __init__(self, stage: Stage, problems: Sequence[str], prefix: str = "", unknown_plugin: str = "") -> None:
        self.stage: Stage = stage
        self.unknown_plugin = unknown_plugin
        """The plugin that is named and not known, where that is the problem."""
        self.problems = tuple(problems)
        self.message = prefix + aggregate(problems)
        super().__init__(f"{stage}: {self.message}")


def aggregate(problems: Iterable[str]) -> str:
    """Several errors as one text: without repetitions, in brackets where there is more than one."""
    unique = list(dict.fromkeys(problems))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"


def shown(value: Any) -> str:
    """A value as field errors show it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def invalid(path: str, value: Any, detail: str) -> str:
    return f"{path}: Invalid value: {shown(value)}: {detail}"


def required(path: str, detail: str = "") -> str:
    return f"{path}: Required value" + (f": {detail}" if detail else "")


def duplicate(path: str, value: Any) -> str:
    return f"{path}: Duplicate value: {shown(value)}"


def forbidden(path: str, detail: str) -> str:
    return f"{path}: Forbidden: {detail}"


def unsupported(path: str, value: Any, supported: Iterable[str]) -> str:
    choices = ", ".join(f'"{choice}"' for choice in supported)
    return f"{path}: Unsupported value: {shown(value)}: supported values: {choices}"
