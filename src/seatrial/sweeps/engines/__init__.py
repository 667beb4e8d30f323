"""Where the points of a sweep run: processes of this machine, or a Ray cluster."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from seatrial.sweeps.points import Point
from seatrial.sweeps.worker import Outcome


class Engine(Protocol):
    """Runs points, in any order."""

    def outcomes(self, points: Iterable[Point]) -> Iterator[Outcome]:
        """The outcome of each point as soon as it is known."""
        ...

    def close(self) -> None:
        """End what the engine has started."""
        ...
