"""Whether the compiled kernel is used: the wheel `seatrial-kernel`, which is optional and built from `kernel/`.

The environment variable SEATRIAL_KERNEL selects it for a whole command: `auto` (the default) uses it if it is
installed, `on` fails without it, `off` never uses it. Answers are the same with it and without it.
"""

import os
from importlib import import_module
from types import ModuleType

from seatrial.model.errors import ConfigError

VARIABLE = "SEATRIAL_KERNEL"
MODULE = "seatrial_kernel"
INTERFACE = 3
"""The interface of the kernel that this version calls."""
CHOICES = ("auto", "on", "off")


def chosen_kernel() -> ModuleType | None:
    """The kernel that the environment selects; None if there is none to use."""
    choice = os.environ.get(VARIABLE, "").strip() or "auto"
    if choice not in CHOICES:
        raise ConfigError("environment", VARIABLE, f"expected {', '.join(CHOICES)}, got {choice!r}")
    if choice == "off":
        return None
    kernel = _installed()
    if kernel is None and choice == "on":
        remedy = f"install seatrial[fast], build it with `make kernel`, or set {VARIABLE}=auto"
        raise ConfigError("environment", VARIABLE, f"no {MODULE} with interface {INTERFACE} is installed: {remedy}")
    return kernel


def kernel_in_use() -> str:
    """What `seatrial --version` says about the kernel."""
    kernel = chosen_kernel()
    return "without kernel" if kernel is None else f"kernel {kernel.__version__}"


def _installed() -> ModuleType | None:
    try:
        kernel = import_module(MODULE)
    except ImportError:
        return None
    return kernel if getattr(kernel, "INTERFACE", None) == INTERFACE else None
