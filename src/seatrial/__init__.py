"""Seatrial: what a Kubernetes scheduler will do, before it does it."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Cluster", "Result", "Simulation", "__version__", "run"]

if TYPE_CHECKING:
    from seatrial.api import Cluster, Result, Simulation, run


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """The Python API is imported when it is first used, so that `import seatrial` stays light."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from seatrial import api

    return getattr(api, name)
