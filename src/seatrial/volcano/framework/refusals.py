"""What actions and plugins said about a job in one session, kept as numbers until somebody asks for the words.

Upstream logs these facts and forgets them. Nothing here influences a decision.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from seatrial.volcano.cache.resource import Resource


@dataclass(frozen=True, slots=True)
class Shortage:
    """A resource of which a job asks for more than a limit leaves."""

    resource: str
    asked: float
    held: float
    """What counts against the limit already."""
    limit: float
    factor: float = 0.0
    """The overcommit-factor with which the job would be let in; 0 where none applies."""
    gain: float = 1.0
    """By how much the limit rises with each unit that the cluster gets."""

    @property
    def missing(self) -> float:
        return self.held + self.asked - self.limit


def shortages(names: Iterable[str], asked: Resource, held: Resource, limit: Resource) -> tuple[Shortage, ...]:
    """The shortages of some resources."""
    return tuple(Shortage(name, asked.get(name), held.get(name), limit.get(name)) for name in names)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Which plugin said no to a job, at which point, and why in upstream's words or in numbers."""

    point: str
    plugin: str
    text: str
    queue: str = ""
    """The queue whose limit it is; empty for the cluster."""
    shortages: tuple[Shortage, ...] = ()
    limited_by: str = ""
    """The field of the queue that sets the limit; empty where the cluster does."""


@dataclass(slots=True)
class EvictionTrial:
    """How an action tried to make room for a job."""

    nodes: int = 0
    """Nodes on which plugins were asked for victims."""
    candidates: dict[str, int] = field(default_factory=dict)
    """Tasks that were put to the vote, by their job; one may be counted on several occasions."""
    refused_by: dict[str, int] = field(default_factory=dict)
    """How often a plugin offered no victim, by plugin."""
    victims: list[str] = field(default_factory=list)
    """Tasks that were evicted for the job."""


@dataclass(slots=True)
class Said:
    """All that was said about one job, in order."""

    refusals: dict[tuple[str, str, str], Refusal] = field(default_factory=dict)
    """By action, point and plugin; the last one of each. Of several at one point the first decided."""
    trials: dict[str, EvictionTrial] = field(default_factory=dict)
    """By action."""
