"""A small cluster with a scheduler, for tests: a store, a clock, and short ways to say what there is."""

from collections.abc import Iterable, Mapping
from typing import Any

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.scenario.cluster import follow
from seatrial.scheduler.config import load_configuration
from seatrial.scheduler.framework.interface import Plugin
from seatrial.scheduler.plugins.out_of_tree import known_points
from seatrial.scheduler.schedule_one.decision import Decision
from seatrial.scheduler.schedule_one.recorder import ListRecorder
from seatrial.scheduler.scheduler import Scheduler
from seatrial.scheduler.versions import DEFAULT, Version
from seatrial.store.store import Store
from tests.known_kinds import known_kind


class World:
    """A store and a scheduler that has started."""

    def __init__(
        self,
        config: Document | None = None,
        plugins: Iterable[type[Plugin]] = (),
        start: bool = True,
        gates: Mapping[str, bool] | None = None,
        version: Version = DEFAULT,
        **options: Any,
    ) -> None:
        self.clock = Clock()
        self.store = Store(builtin_kinds(), self.clock)
        follow(self.store, version)
        self.recorder = ListRecorder()
        classes = list(plugins)
        loaded = load_configuration(config, plugins=known_points(classes), gates=gates, version=version)
        options.setdefault("recorder", self.recorder)
        self.scheduler = Scheduler(self.store, self.clock, loaded, plugins=classes, **options)
        if start:
            self.scheduler.start()

    def kind(self, name: str, version: str = "v1") -> Kind:
        return known_kind(self.store.kinds, version, name)

    def node(self, name: str, cpu: str = "4", labels: dict[str, str] | None = None, **spec: Any) -> None:
        amounts = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
        document = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
            "spec": spec,
            "status": {"capacity": amounts, "allocatable": amounts},
        }
        self.store.create(self.kind("Node"), document, writer="user:test")

    def pod(self, name: str, cpu: str = "1", labels: dict[str, str] | None = None, **spec: Any) -> None:
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": "100Mi"}}}
        document = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "labels": labels or {}},
            "spec": {"containers": [container], **spec},
        }
        self.store.create(self.kind("Pod"), document, writer="user:test", namespace="default")

    def change(self, kind: str, name: str, change: Any, subresource: str = "") -> None:
        namespace = "default" if kind == "Pod" else ""
        self.store.modify(
            self.kind(kind), name, change, writer="user:test", namespace=namespace, subresource=subresource
        )

    def delete(self, kind: str, name: str, grace: int | None = 0) -> None:
        from seatrial.store.options import DeleteOptions

        namespace = "default" if kind == "Pod" else ""
        options = DeleteOptions(grace_period_seconds=grace)
        self.store.delete(self.kind(kind), name, writer="user:test", namespace=namespace, options=options)

    def run(self) -> list[Decision]:
        """Schedule until nothing is left to try; the decisions made."""
        before = len(self.recorder.decisions)
        for _ in range(1000):
            if not self.scheduler.has_work():
                return self.recorder.decisions[before:]
            self.scheduler.schedule_one()
        raise AssertionError("the scheduler does not come to rest")

    def run_out(self, most: int = 50) -> list[Decision]:
        """Schedule and let inner timers run out, at most so many; the decisions made."""
        made = self.run()
        for _ in range(most):
            if self.clock.next_inner() is None:
                break
            self.clock.fire_next(outer=False)
            made += self.run()
        return made

    def document(self, name: str) -> Document:
        return self.store.get(self.kind("Pod"), name, "default").document()

    def node_of(self, name: str) -> str:
        return str(self.document(name)["spec"].get("nodeName", ""))

    def condition(self, name: str, type: str = "PodScheduled") -> Document:
        conditions = self.document(name)["status"].get("conditions", [])
        return next((c for c in conditions if c["type"] == type), {})

    def events(self, reason: str = "") -> list[Document]:
        found = [stored.document() for stored in self.store.list(self.kind("Event"))]
        return [event for event in found if not reason or event["reason"] == reason]


def profiles(*listed: Document) -> Document:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": list(listed),
    }


def enabled(*names: str) -> Document:
    """The default profile with some plugins more."""
    return profiles({"plugins": {"multiPoint": {"enabled": [{"name": name} for name in names]}}})
