"""A whole server on a data directory, without a socket: as `seatrial serve` composes it, but for its workers."""

import asyncio
from pathlib import Path
from typing import Any

from seatrial.control_plane.components import Settings, compose
from seatrial.model.kinds import Kind
from seatrial.server import Application, KubernetesApi, Metrics
from seatrial.server.auth import ADMIN, Identities
from tests.server.client import TOKEN, Reply, Server
from tests.server.hardening.test_damaged_objects import MORE
from tests.server.samples import samples

Place = tuple[str, str, str]


class Served(Server):
    """Answers requests from what is stored in a directory."""

    def __init__(self, home: Path) -> None:
        self.parts = compose(Settings(data_dir=home, volcano=True, scheduler=False, controllers=()))
        self.store = self.parts.store
        self.identities = Identities(b"key")
        self.identities.add(TOKEN, ADMIN)
        api = KubernetesApi(self.store, self.identities, Metrics(), self.parts.gates)
        self.application = Application(api, self.identities, Metrics(), self.parts.routes, max_request_bytes=1 << 20)
        self._runner = asyncio.Runner()

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        return self._runner.run(self.send(method, path, body, **headers))

    def state(self) -> dict[Place, tuple[int, bytes]]:
        """Revision and content of every object, by kind, namespace and name."""
        kinds = [kind for kind in self.store.kinds if "list" in kind.verbs]
        return {
            (kind.resource, stored.namespace, stored.name): (stored.revision, stored.data)
            for kind in kinds
            for stored in self.store.list(kind)
        }

    def close(self) -> None:
        for stop in self.parts.on_stop:
            stop()
        assert self.parts.durability is not None
        self.parts.durability.close()
        self._runner.close()


def every_sample() -> list[dict[str, Any]]:
    """One valid object of every kind: built-in ones, the server's own, and one that a user has defined."""
    own = [{**document, "metadata": {"name": "sample"}} for document in MORE]
    return [*samples(), *own]


def path_of(kind: Kind) -> str:
    """The path of a kind's collection, in the namespace `default`."""
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    return f"{root}/namespaces/default/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"
