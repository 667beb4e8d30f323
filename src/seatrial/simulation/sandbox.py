"""A cluster for step-by-step use from Python: apply objects, schedule, look. `seatrial.Cluster` adds `explain`.

Each call of `schedule` is one step of the scenario engine, without operations.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from seatrial.clock import Clock
from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError, NotFound
from seatrial.model.kinds import Kind
from seatrial.model.writers import user_writer
from seatrial.model.yaml_reader import load_all
from seatrial.scenario import ScenarioRun, SimulationOptions
from seatrial.scenario.engine import Engine
from seatrial.scenario.spec import schedulers_of
from seatrial.scenario.spec.kind import API_VERSION
from seatrial.simulation.simulation import Simulation, Sinks
from seatrial.store import Store
from seatrial.store.options import Patch, PatchOptions
from seatrial.timeline import Timeline

USER = user_writer("python")
SCENARIO: Document = {
    "apiVersion": API_VERSION,
    "kind": "Scenario",
    "metadata": {"name": "cluster"},
}
"""It has no operation, every controller, and the schedulers of the cluster."""


class NoPages:
    """Discards the encoded timeline: `explain` reads its rows."""

    def append(self, page: Sequence[bytes]) -> None:
        """Discards a page."""

    def replace_last(self, page: Sequence[bytes]) -> None:
        """Discards a page."""

    def __len__(self) -> int:
        return 0

    def __getitem__(self, number: int, /) -> bytes:
        raise IndexError(number)

    def pieces(self, number: int) -> Iterable[bytes]:
        raise IndexError(number)


class Sandbox:
    """`apply` objects, then `schedule`: controllers and the scheduler work until nothing more can be done."""

    def __init__(self, options: SimulationOptions | None = None) -> None:
        self.options = options or SimulationOptions()

    @cached_property
    def _started(self) -> tuple[ScenarioRun, Engine]:
        """Made at the first use, since a question about a snapshot needs none."""
        scenario = {**SCENARIO, "spec": {"operations": [], "controllers": {
            "simulationControllers": {"enabled": schedulers_of(self.options.snapshot)}}}}  # fmt: skip
        run = Simulation(scenario, self.options, Sinks(pages=NoPages())).scenario_run
        return run, run.start()

    @property
    def is_started(self) -> bool:
        """Whether the cluster may differ from the snapshot that it began with."""
        return "_started" in self.__dict__

    @property
    def store(self) -> Store:
        return self._started[0].store

    @property
    def timeline(self) -> Timeline:
        return self._started[0].timeline

    @property
    def clock(self) -> Clock:
        return self._started[0].clock

    def __repr__(self) -> str:
        pods = self.timeline.pods
        nodes = self.store.list(self._kind("nodes"))
        return f"<Cluster of {len(nodes)} nodes, {pods.bound} pods bound and {pods.pending} pending>"

    def apply(self, object: Document | str | Path) -> None:
        """Create objects, or bring them to what is given; a text or a file may hold many."""
        if isinstance(object, Path):
            object = object.read_text()
        for document in load_all(object) if isinstance(object, str) else [object]:
            for item in document.get("items", [document]):
                self._apply(item)

    def delete(self, kind: str, name: str, namespace: str | None = None) -> None:
        """Delete an object; NotFound if it does not exist."""
        found = self._kind(kind)
        self.store.delete(found, name, writer=USER, namespace=self._namespace(found, namespace))

    def schedule(self) -> int:
        """Run controllers and the scheduler until nothing more can be done; how many pods were bound."""
        before = self.timeline.pods.bound
        for _ in self._started[1].step(self.timeline.major + 1):
            pass
        return self.timeline.pods.bound - before

    def get(self, kind: str, name: str, namespace: str | None = None) -> Document:
        """One object; NotFound if it does not exist. Kinds by name, plural or short name."""
        found = self._kind(kind)
        return self.store.get(found, name, self._namespace(found, namespace)).document()

    def list(self, kind: str, namespace: str = "") -> list[Document]:
        """All objects of a kind."""
        return [stored.document() for stored in self.store.list(self._kind(kind), namespace)]

    def _apply(self, document: Document) -> None:
        kind = self.store.kinds.named(document.get("apiVersion", ""), document.get("kind", ""))
        if kind is None:
            raise ConfigError("", "kind", f"{document.get('apiVersion')} {document.get('kind')} is not known")
        metadata = document.get("metadata") or {}
        namespace = self._namespace(kind, metadata.get("namespace"))
        if self.store.find(kind, metadata.get("name", ""), namespace) is None:
            self.store.create(kind, document, writer=USER, namespace=namespace)
            return
        options = PatchOptions(field_manager="seatrial", force=True)
        self.store.patch(
            kind, metadata["name"], Patch("merge", document), writer=USER, namespace=namespace, options=options
        )

    def _kind(self, name: str) -> Kind:
        wanted = name.lower()
        for kind in self.store.kinds:
            if wanted in (kind.kind.lower(), kind.plural, *kind.short_names):
                return kind
        raise NotFound(f'the server doesn\'t have a resource type "{name}"')

    @staticmethod
    def _namespace(kind: Kind, namespace: str | None) -> str:
        return (namespace or "default") if kind.namespaced else ""
