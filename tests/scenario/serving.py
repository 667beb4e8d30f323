"""A store with a scenario controller, for tests of Scenarios as API objects."""

from dataclasses import dataclass, field
from typing import Any

from seatrial.clock.virtual import Clock
from seatrial.model.documents import Document
from seatrial.scenario.cluster import fresh_store
from seatrial.scenario.scenario_controller import ScenarioController
from seatrial.scenario.spec.kind import SCENARIO
from seatrial.store.objects import Change
from seatrial.store.store import Store
from tests.known_kinds import known_kind
from tests.scenario.playing import scenario

USER = "user:admin"


@dataclass
class Server:
    """A store with a scenario controller, and a log of every status a watcher would see."""

    store: Store = field(default_factory=lambda: fresh_store(Clock()))
    strict: bool = False
    suspended: bool = False
    log: list[tuple[str, Document]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.controller = ScenarioController(self.store, self, strict=self.strict)
        self.controller.start()
        self.store.subscribe(self._watch, [SCENARIO])

    def suspend(self) -> None:
        self.suspended = True

    def resume(self) -> None:
        self.suspended = False

    def _watch(self, change: Change) -> None:
        if change.type != "DELETED":
            self.log.append((change.stored.name, change.stored.document().get("status") or {}))

    def create(self, spec: dict[str, Any], name: str = "play", **annotations: str) -> None:
        document = scenario(spec, **annotations)
        document["metadata"]["name"] = name
        self.store.create(SCENARIO, document, writer=USER)

    def run(self) -> None:
        """Work until the controller has nothing more to do."""
        while self.controller.has_work():
            self.controller.work()

    def work(self, until: str) -> None:
        """Work until a Scenario has shown this phase inside a step."""
        while self.controller.has_work():
            seen = len(self.log)
            self.controller.work()
            if any((status.get("stepStatus") or {}).get("phase") == until for _, status in self.log[seen:]):
                return

    def status(self, name: str = "play") -> Document:
        return self.store.get(SCENARIO, name).document().get("status") or {}

    def user_creates(self, document: Document) -> None:
        kind = known_kind(self.store.kinds, document["apiVersion"], document["kind"])
        self.store.create(kind, document, writer=USER, namespace="default" if kind.namespaced else "")

    def restarted(self) -> "Server":
        """Another server process on the same store."""
        self.store.clock = Clock()
        return Server(self.store)

    def timeline(self, name: str = "play") -> dict[str, list[dict[str, Any]]]:
        return dict(self.status(name)["scenarioResult"]["timeline"])

    def spec(self, name: str = "play") -> list[dict[str, Any]]:
        """The operations of the stored spec."""
        return list(self.store.get(SCENARIO, name).document()["spec"]["operations"])

    def find(self, kind: str, name: str, api_version: str = "v1") -> Document | None:
        found = known_kind(self.store.kinds, api_version, kind)
        stored = self.store.find(found, name, "default" if found.namespaced else "")
        return stored.document() if stored is not None else None
