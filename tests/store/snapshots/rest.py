"""The four ways in of a cluster, and what moved after it."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import orjson

from seatrial.api import Simulation
from seatrial.control_plane.components import Parts, Settings, compose
from seatrial.scenario.spec import scenario_alone
from seatrial.server.messages import Answer, Request
from seatrial.store.objects import Change
from seatrial.store.snapshots import Snapshot
from seatrial.store.store import Store
from seatrial.store.users import User
from seatrial.timeline.timeline import SNAPSHOT

Document = dict[str, Any]
QUIET = ("Event", "Lease")
IMPORTER = User("importer", ("system:masters",))
TURNS = 5_000
HASHES = re.compile(r'"(?:pod-template-hash|controller-revision-hash|controller\.kubernetes\.io/hash)":"(?:db-)?(\w+)"')
SUBSET = ("Pod", "Node", "PersistentVolumeClaim", "PersistentVolume", "StorageClass")
"""The kinds that every dump has: without pods workloads make theirs, without volumes pending pods wait for others."""
ONLY_DONE: Document = {
    "apiVersion": "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1",
    "kind": "Scenario",
    "metadata": {"name": "rest"},
    "spec": {"events": [{"id": "end", "step": 1, "operation": "Done", "doneOperation": {}}]},
}
UNTIL_REST = scenario_alone("rest")


class Watch:
    """Collects creates, deletes, binds and changes of a pod's status that no load made."""

    def __init__(self, store: Store, *loaders: str) -> None:
        self.moves: list[str] = []
        self._loaders = loaders
        self.stop = store.subscribe(self._notice)

    def _notice(self, change: Change) -> None:
        kind, name = change.stored.kind.kind, f"{change.stored.namespace}/{change.stored.name}"
        if kind in QUIET or change.writer in self._loaders:
            return
        if change.type != "MODIFIED":
            self.moves.append(f"{change.writer} {change.type} {kind} {name}")
        elif kind == "Pod" and change.previous is not None:
            before, after = change.previous.document(), change.stored.document()
            for part in ("spec", "status"):
                if before.get(part) != after.get(part):
                    self.moves.append(f"{change.writer} {part} of {name}: {_difference(before[part], after[part])}")


def _difference(before: Document, after: Document) -> str:
    return str(
        {key: (before.get(key), after.get(key)) for key in {*before, *after} if before.get(key) != after.get(key)}
    )


def as_dumped(documents: Sequence[Document]) -> list[Document]:
    """The objects as another server writes them: its hashes are others, and its revisions have nulls."""
    text = orjson.dumps(documents).decode()
    for number, hashed in enumerate(sorted(set(HASHES.findall(text)))):
        text = text.replace(hashed, f"{hashed[::-1]}{number}")
    dumped: list[Document] = orjson.loads(text)
    for document in dumped:
        if document["kind"] == "ControllerRevision":
            document["data"]["spec"]["template"]["metadata"]["creationTimestamp"] = None
    return dumped


def subset_of(documents: Sequence[Document], dice: Random) -> list[Document]:
    """A dump of some of the kinds."""
    kinds = sorted({document["kind"] for document in documents} - set(SUBSET))
    chosen = {*SUBSET, *dice.sample(kinds, dice.randrange(len(kinds)))}
    return [document for document in documents if document["kind"] in chosen]


def moves_in_run(snapshot: Sequence[Document], version: str = "") -> list[str]:
    """A run with only Done."""
    simulation = Simulation(ONLY_DONE, record="none", snapshot=snapshot, kubernetes_version=version)
    watch = Watch(simulation.scenario_run.store, SNAPSHOT)
    assert simulation.run().phase == "Succeeded", simulation.scenario_run.status.message
    return watch.moves


def pods_after(snapshot: Sequence[Document]) -> list[Document]:
    """The pods of a run in which controllers and scheduler go on until they rest; new pods have uids of their own."""
    simulation = Simulation(UNTIL_REST, seed=7, record="none", snapshot=snapshot)
    assert simulation.run().phase == "Succeeded", simulation.scenario_run.status.message
    store = simulation.scenario_run.store
    kind = store.kinds.named("v1", "Pod")
    assert kind is not None
    return [stored.document() for stored in store.list(kind)]


@contextmanager
def serving(**settings: Any) -> Iterator[Parts]:
    """A server in this process, whose workers the caller drives."""
    parts = compose(Settings(**settings))
    try:
        yield parts
    finally:
        for stop in parts.on_stop:
            stop()


def moves_in_servers(path: Path, second: Parts) -> tuple[list[str], list[str]]:
    """`serve --snapshot`; and its `/api/v1/export` after `/api/v1/import` into a second server, which is reset."""
    with serving(snapshot=Snapshot.read(path)) as first:
        served = _moves_of_workers(first, Watch(first.store))
        exported = asyncio.run(_call(first, "GET", "/api/v1/export"))
    asyncio.run(_call(second, "PUT", "/api/v1/reset"))
    _moves_of_workers(second, Watch(second.store))
    watch = Watch(second.store, IMPORTER.writer)
    asyncio.run(_call(second, "POST", "/api/v1/import", exported))
    moves = _moves_of_workers(second, watch)
    watch.stop()
    return served, moves


async def _call(parts: Parts, method: str, path: str, body: bytes = b"") -> bytes:
    route = next(found for routes in parts.routes if (found := routes.find(method, path)) is not None)
    request = Request(method, path, {}, {"content-type": "application/json"}, body, IMPORTER)
    answer = await route.endpoint(request)
    assert isinstance(answer, Answer)
    return answer.body


def _moves_of_workers(parts: Parts, watch: Watch) -> list[str]:
    for _ in range(TURNS):
        if not sum(worker.has_work() and worker.work() for worker in parts.workers):
            return watch.moves
    raise AssertionError(f"no rest after {TURNS} turns: {watch.moves[-3:]}")
