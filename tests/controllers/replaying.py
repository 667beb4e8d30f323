"""A cluster in this process: store, scheduler and all our controllers, in virtual time."""

from collections.abc import Iterable
from typing import Any

from seatrial.clock.virtual import Clock
from seatrial.controllers.registry import build_controllers, controller_names
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import LabelSelector
from seatrial.scenario.cluster import fresh_store
from seatrial.scheduler.config import default_configuration
from seatrial.scheduler.scheduler import Scheduler
from seatrial.scheduler.versions import DEFAULT, VERSIONS, Version
from seatrial.store.options import DeleteOptions, Patch
from tests.controllers.manifests import Manifest, Step
from tests.controllers.normalising import normalised

MOST_TURNS = 20_000
RECORDED = VERSIONS["1.36"]
"""The version of the schedulers whose clusters are recorded."""
Document = dict[str, Any]


class Cluster:
    """Everything at work; `settle` lets it come to rest."""

    def __init__(self, names: Iterable[str] | None = None, seed: int = 0, version: Version = DEFAULT) -> None:
        self.clock = Clock()
        self.store = fresh_store(self.clock, seed, version=version)
        self.scheduler = Scheduler(self.store, self.clock, default_configuration(version))
        self.controllers = build_controllers(self.store, self.clock, names)
        self.scheduler.start()
        for controller in self.controllers:
            controller.start()
        self._kinds: dict[str, Kind] = {}
        for kind in self.store.kinds:
            self._kinds.setdefault(kind.kind, kind)

    def kind(self, name: str) -> Kind:
        return self._kinds[name]

    def create(self, *documents: Document) -> None:
        for document in documents:
            kind = self.kind(document["kind"])
            namespace = document["metadata"].get("namespace", "default") if kind.namespaced else ""
            self.store.create(kind, document, namespace=namespace, writer="user:test")

    def patch(self, body: Document) -> None:
        kind, namespace = self.kind(body["kind"]), body.get("namespace", "default")
        namespace = namespace if kind.namespaced else ""
        names = [body["name"]] if "name" in body else [
            stored.name for stored in self.store.list(kind, namespace, LabelSelector.parse(body["selector"]))
        ]  # fmt: skip
        patch = Patch("strategic" if body.get("type") == "strategic-merge" else "merge", body["body"])
        for name in names:
            self.store.patch(
                kind, name, patch, namespace=namespace, subresource=body.get("subresource", ""), writer="user:test"
            )

    def delete(self, body: Document) -> None:
        kind = self.kind(body["kind"])
        options = DeleteOptions(propagation_policy=body.get("propagation", ""))
        namespace = body.get("namespace", "default") if kind.namespaced else ""
        self.store.delete(kind, body["name"], namespace=namespace, writer="user:test", options=options)

    def get(self, kind: str, name: str, namespace: str = "default") -> Document:
        found = self.kind(kind)
        return self.store.get(found, name, namespace if found.namespaced else "").document()

    def all(self, kind: str) -> list[Document]:
        return [stored.document() for stored in self.store.list(self.kind(kind))]

    def work(self) -> None:
        """Everybody works until nobody has anything to do; no time passes."""
        for _ in range(MOST_TURNS):
            busy = [controller for controller in self.controllers if controller.work()]
            if not busy and self.scheduler.schedule_one() is None:
                return
        raise AssertionError(
            f"no rest: {[controller.name for controller in self.controllers if controller.has_work()]}"
        )

    def work_once(self) -> None:
        """One turn of each, in which work may be left."""
        for controller in self.controllers:
            controller.work()
        self.scheduler.schedule_one()

    def settle(self, quiet: int = 0) -> None:
        """Work, and let time pass until nothing is written for `quiet` microseconds."""
        self.work()
        since, revision = self.clock.now(), self.store.revision
        while True:
            due = [when for when in (self.clock.next_inner(), self.clock.next_outer()) if when is not None]
            if not due or min(due) > since + quiet:
                self.clock.advance(since + quiet)
                return
            self.clock.fire_next(outer=True)
            self.work()
            if self.store.revision != revision:
                since, revision = self.clock.now(), self.store.revision

    def objects(self) -> list[Document]:
        return [stored.document() for stored in self.store.everything()]


def act(cluster: Cluster, step: Step) -> None:
    if step.verb == "create":
        cluster.create(*step.body)
    elif step.verb == "patch":
        cluster.patch(step.body)
    elif step.verb == "delete":
        cluster.delete(step.body)


def replay(manifest: Manifest) -> list[Document]:
    """Run a manifest in virtual time and give what is there at the end."""
    cluster = Cluster(controller_names(), version=RECORDED)
    cluster.settle()
    for step in manifest.steps:
        act(cluster, step)
        cluster.settle(step.quiet)
    return normalised(cluster.objects())
