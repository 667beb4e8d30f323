"""A small stage for the engine: a store, a scheduler that fills nodes in order, and a log of what was shown."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.scenario.actors import Actor, SchedulerActor
from seatrial.scenario.board import Board
from seatrial.scenario.engine import Engine, Settings
from seatrial.scenario.plan import Plan, settle
from seatrial.scenario.profile import profile_of
from seatrial.scenario.resting import Company
from seatrial.store.objects import Change
from seatrial.store.store import Store
from seatrial.timeline.timeline import Timeline
from seatrial.timeline.wire import Shape
from seatrial.timeline.writes import counts


def node(name: str, pods: int = 10) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": str(pods)}},
    }


def pod(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
    }


def create(step: int, document: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"step": step, "createOperation": {"object": document}, **more}


def done(step: int, **more: Any) -> dict[str, Any]:
    return {"step": step, "doneOperation": {}, **more}


def events(*items: dict[str, Any]) -> dict[str, Any]:
    """A spec in the first spelling: the discriminators are added."""
    verbs = {"createOperation": "Create", "patchOperation": "Patch", "deleteOperation": "Delete"}
    named = []
    for item in items:
        verb = next((verb for key, verb in verbs.items() if key in item), "Done")
        if verb == "Done":
            item = {**item, "doneOperation": item.get("doneOperation") or {"done": True}}
        named.append({"operation": verb, **item})
    return {"events": named}


def operations(*items: dict[str, Any], simulated: Iterable[str] = ("scheduler",)) -> dict[str, Any]:
    names = [{"name": name} for name in simulated]
    return {"operations": list(items), "controllers": {"simulationControllers": {"enabled": names}}}


class SlotScheduler:
    """Puts each pod on the first node that has a slot left; a pod that fails waits for a node or a sweep."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.pods, self.nodes = store.kinds.named("v1", "Pod"), store.kinds.named("v1", "Node")
        self.queue: dict[str, None] = {}
        self.failed: dict[str, None] = {}
        self.tried: list[str] = []

    def start(self) -> None:
        self.store.subscribe(self.notice, [self.pods, self.nodes])

    def stop(self) -> None:
        pass

    def notice(self, change: Change) -> None:
        if change.stored.kind == self.nodes or change.type == "DELETED":
            self.sweep()
        elif change.type == "ADDED":
            self.queue[change.stored.name] = None

    def has_work(self) -> bool:
        return bool(self.queue)

    def sweep(self) -> None:
        self.queue.update(self.failed)
        self.failed.clear()

    def schedule_one(self) -> str | None:
        name = next(iter(self.queue))
        del self.queue[name]
        if self.store.find(self.pods, name, "default") is None:
            return None
        self.tried.append(name)
        bound = [p.document()["spec"].get("nodeName") for p in self.store.list(self.pods)]
        for candidate in self.store.list(self.nodes):
            slots = int(candidate.document()["status"]["allocatable"]["pods"])
            if bound.count(candidate.name) < slots:
                self.store.bind("default", name, candidate.name, writer="scheduler")
                return name
        self.failed[name] = None
        return name


@dataclass
class Stage:
    """Everything one run of the engine needs, and a log of every status that was shown."""

    spec: dict[str, Any]
    preparing: list[Actor] = field(default_factory=list)
    simulated: list[Actor] = field(default_factory=list)
    settings: Settings = field(default_factory=Settings)
    log: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = Clock()
        self.store = Store(builtin_kinds(), self.clock)
        self.scheduler = SlotScheduler(self.store)

    def publish(self, board: Board) -> None:
        self.log.append(orjson.loads(b"".join(board.parts())))

    def build(self) -> Engine:
        _, planned = settle({"spec": self.spec})
        profile = profile_of(self.spec)
        plan, board = Plan(profile, planned), Board(profile, "test")
        timeline = Timeline(Shape(profile.minor_steps), is_taken=plan.has_id)
        company = Company(self.preparing, self.simulated or [SchedulerActor(self.scheduler)])
        engine = Engine(self.store, self.clock, plan, board, timeline, company, self.settings, self)
        self.store.subscribe(timeline.listen)
        self.store.subscribe(engine.loops.note)
        self.store.before_write = lambda *write: engine.about_to_write(counts(*write))
        company.start()
        return engine

    def play(self) -> dict[str, Any]:
        """Run to the end; the last status."""
        self.engine = self.build()
        for _ in self.engine.play():
            pass
        return self.log[-1]

    def phases(self) -> list[str]:
        """The phases inside steps, as a watcher sees them, equal neighbours once."""
        seen: list[str] = []
        for status in self.log:
            phase = status.get("stepStatus", {}).get("phase")
            if phase and status["phase"] == "Running" and (not seen or seen[-1] != phase):
                seen.append(phase)
        return seen


def kinds_of(status: dict[str, Any], step: str) -> list[str]:
    """Which field each timeline entry of a step uses."""
    return [
        next(key for key in entry if key not in ("id", "step", "operation"))
        for entry in status["scenarioResult"]["timeline"][step]
    ]
