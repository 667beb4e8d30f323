"""A cluster for step-by-step use from Python: apply objects, schedule, look. `seatrial.Cluster` adds `explain`.

Each call of `schedule` is one step of the scenario engine, without operations.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from seatrial import __version__
from seatrial.clock import Clock
from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError, NotFound
from seatrial.model.kinds import Kind
from seatrial.model.writers import user_writer
from seatrial.model.yaml_reader import load_all
from seatrial.scenario.cluster import fresh_store
from seatrial.scenario.engine.controller_registry import REGISTRY
from seatrial.scenario.engine.embedded_scheduler import TieBreak, scheduler_maker
from seatrial.scenario.engine.engine import Engine
from seatrial.scenario.spec.dialect import EVENTS, OPERATIONS
from seatrial.scenario.spec.kind import Controllers
from seatrial.scenario.spec.plan import Plan
from seatrial.scenario.status import ScenarioStatus
from seatrial.scheduler.config import Configuration, load_configuration
from seatrial.store.options import Patch, PatchOptions
from seatrial.timeline import Timeline
from seatrial.timeline.wire import Shape

USER = user_writer("python")


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

    def __init__(
        self,
        scheduler_config: Configuration | Document | None = None,
        plugins: tuple[type[Any], ...] = (),
        *,
        seed: int = 0,
        tie_break: TieBreak = "upstream",
    ) -> None:
        if not isinstance(scheduler_config, Configuration):
            from seatrial.scheduler.plugins import known_points

            scheduler_config = load_configuration(scheduler_config, plugins=known_points(plugins))
        self.clock = Clock()
        self.store = fresh_store(self.clock, seed)
        self.timeline = Timeline(Shape(minor_steps=True))
        self.store.subscribe(self.timeline.listen)
        make = scheduler_maker(scheduler_config, tie_break=tie_break, seed=seed, plugins=plugins)
        scheduler = make(self.store, self.clock, self.timeline)
        controllers = REGISTRY.build(Controllers(), EVENTS, self.store, self.clock, scheduler)
        status = ScenarioStatus(OPERATIONS, __version__, NoPages())
        self._engine = Engine(self.store, self.clock, Plan(OPERATIONS), status, self.timeline, controllers)
        self.store.subscribe(self._engine.loops.note)
        self.store.before_write = self._engine.about_to_write
        controllers.start()

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
        """Delete an object; NotFound where there is none."""
        found = self._kind(kind)
        self.store.delete(found, name, writer=USER, namespace=self._namespace(found, namespace))

    def schedule(self) -> int:
        """Run controllers and the scheduler until nothing more can be done; how many pods were bound."""
        before = self.timeline.pods.bound
        for _ in self._engine.step(self.timeline.major + 1):
            pass
        return self.timeline.pods.bound - before

    def get(self, kind: str, name: str, namespace: str | None = None) -> Document:
        """One object; NotFound where there is none. Kinds by name, plural or short name."""
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
