"""Extension points for the packages above: gates that hold requests back, and additional routes."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from seatrial.model.kinds import Kind
from seatrial.server.messages import Answer, Request, Stream
from seatrial.server.paths import Target
from seatrial.store import Stored

Endpoint = Callable[[Request], Awaitable[Answer | Stream]]


class OpenWatch(Protocol):
    """A watch as a gate sees it."""

    observer: Callable[[], None]
    """Called each time the watch has sent everything, and when it ends."""

    @property
    def kind(self) -> Kind: ...

    @property
    def is_open(self) -> bool: ...

    @property
    def is_delivered(self) -> bool:
        """Whether every event so far was handed to the connection."""

    def resend(self, type: str, stored: Stored) -> None:
        """Send an event to this watch alone, after those that are on their way."""

    def close(self) -> None:
        """End the watch, as a server does when its time is over."""


class Gate:
    """Decides which requests go on, and when.

    `enter` and `deliver` may wait for as long as they like and may raise a StatusError to refuse. Gates are asked in
    the order in which they were handed in. A gate inherits from this class and overrides what it needs.
    """

    async def enter(self, request: Request, target: Target) -> None:
        """Called before a request for a resource is carried out."""

    def left(self, request: Request, target: Target) -> None:
        """Called after a request for a resource was carried out, refused or given up by its client."""

    def watching(self, request: Request, target: Target, watch: OpenWatch) -> None:
        """Called when a watch begins."""

    async def deliver(self, request: Request, target: Target) -> None:
        """Called before the next events of a watch are sent."""


@dataclass(frozen=True, slots=True)
class Route:
    """An endpoint and whether it needs no authentication (pages, health)."""

    endpoint: Endpoint
    public: bool = False


class Routes(Protocol):
    """Extra endpoints; they take precedence over the Kubernetes API."""

    def find(self, method: str, path: str) -> Route | None:
        """The route for this request; None if it is not for this extension."""


class RouteTable:
    """Routes by exact path, or by a prefix that ends in a slash."""

    def __init__(self) -> None:
        self._exact: dict[str, dict[str, Route]] = {}
        self._prefixes: list[tuple[str, dict[str, Route]]] = []

    def add(self, method: str, path: str, endpoint: Endpoint, *, public: bool = False) -> None:
        """Serve `path` (and everything below it if it ends in a slash) by `endpoint`."""
        if path.endswith("/") and path != "/":
            table = next((routes for prefix, routes in self._prefixes if prefix == path), None)
            if table is None:
                table = {}
                self._prefixes.append((path, table))
        else:
            table = self._exact.setdefault(path, {})
        table[method] = Route(endpoint, public)

    def find(self, method: str, path: str) -> Route | None:
        table = self._exact.get(path)
        if table is not None:
            return table.get(method)
        for prefix, routes in self._prefixes:
            if path.startswith(prefix):
                return routes.get(method)
        return None
