"""What a server is put together from: store, API, scheduler, controllers, scenarios, pages.

`compose` is the one place that knows all rooms. Whoever brings a new part adds one function here that returns its
workers, routes and gates, and calls it in `compose`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.clock.real import RealClock
    from seatrial.server.pump import Worker
    from seatrial.server.seams import Gate, Routes
    from seatrial.store.store import Store

SYSTEM_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


@dataclass(frozen=True, slots=True)
class Settings:
    """What `seatrial serve` was asked for."""

    port: int = 3131
    data_dir: Path | None = None
    kubeconfig: Path | None = None
    insecure: bool = False
    token_file: Path | None = None
    max_request_bytes: int = 64 * 1024 * 1024
    scheduler: bool = True
    scheduler_config: Path | None = None
    controllers: tuple[str, ...] | None = None
    record: str = "full"
    plugins: tuple[str, ...] = ()
    strict: bool = False


@dataclass(slots=True)
class Parts:
    """A server's parts, before it is started."""

    store: "Store"
    clock: "RealClock"
    workers: "list[Worker]" = field(default_factory=list)
    routes: "list[Routes]" = field(default_factory=list)
    gates: "list[Gate]" = field(default_factory=list)


def compose(settings: Settings) -> Parts:
    """Put a server together."""
    return build_store(settings)


def build_store(settings: Settings) -> Parts:
    """The store, in memory or durable, with what every cluster has."""
    from seatrial.clock.real import RealClock
    from seatrial.model.builtin import builtin_kinds
    from seatrial.server.naming import RandomIdentities
    from seatrial.store.store import Store

    clock = RealClock()
    store = Store(builtin_kinds(), clock, identities=RandomIdentities())
    create_namespaces(store, SYSTEM_NAMESPACES)
    return Parts(store, clock)


def create_namespaces(store: "Store", names: Sequence[str]) -> None:
    """Make sure that these namespaces exist."""
    kind = store.kinds.named("v1", "Namespace")
    assert kind is not None
    for name in names:
        if store.find(kind, name) is None:
            document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            store.create(kind, document, writer="system")
