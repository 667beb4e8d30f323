"""Runs stages: every object of a kind moves from stage to stage, at once or when its delay has passed.

Upstream: KWOK's lifecycle (pkg/utils/lifecycle). Where several stages match, weights decide; the choice is seeded by
the object, so a run is repeatable. The rendering of a template is cached for the next pod with equal fields.
"""

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence, Sized
from functools import lru_cache
from importlib import resources
from typing import ClassVar

from seatrial.clock import Timer
from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.controllers.stages.executor import Executor
from seatrial.controllers.stages.field_reader import Seen
from seatrial.controllers.stages.kind import STAGE, serve_stages, usable_stages
from seatrial.controllers.stages.selector_cache import SelectorCache
from seatrial.controllers.stages.stage import Stage
from seatrial.model import yaml_reader as yamls
from seatrial.model.documents import Document
from seatrial.model.errors import StatusError
from seatrial.model.kinds import Kind
from seatrial.store import Change, Stored

log = logging.getLogger("seatrial.controllers")


def default_stage_documents(name: str, release: str = "") -> list[Document]:
    """The stages that come with Seatrial for pods, or for nodes of a release of Kubernetes."""
    text = (resources.files("seatrial.controllers.stages") / "default" / f"{name}.yaml").read_text()
    return [document for document in yamls.load_all(text.replace("KUBERNETES_VERSION", release)) if document]


@lru_cache
def default_stages(name: str, release: str = "") -> tuple[Stage, ...]:
    """The same, compiled."""
    return tuple(Stage(document, f"default stage {name}") for document in default_stage_documents(name, release))


class Lifecycle(QueueController):
    """Runs the stages of one kind."""

    reads_pods: ClassVar[bool] = False
    served: ClassVar[tuple[str, str]]
    defaults: ClassVar[str] = ""

    def __init__(self, context: Context, kind: Kind | None = None) -> None:
        super().__init__(context)
        serve_stages(context.store)
        self.kind = kind or context.kind(*self.served)
        self._executor = Executor(context, self.kind, self.name)
        self._selectors = SelectorCache(())
        self._stages: dict[str, tuple[Document, Stage]] = {}
        """The Stage objects of the cluster by name, with what they say."""
        self._reported: set[str] = set()
        self._waiting: dict[Key, tuple[Stage, Timer]] = {}
        self._due_stage: dict[Key, Stage] = {}

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._changed, STAGE: self._stages_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def start(self) -> None:
        self._read_stages()
        super().start()

    def stop(self) -> None:
        super().stop()
        for _, timer in self._waiting.values():
            timer.cancel()
        self._waiting.clear()
        self._due_stage.clear()

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            return
        seen = Seen(stored)
        due = self._due_stage.pop(key, None)
        if due is not None and due.selector.matches(seen.document):
            self._execute(due, seen)
            return
        matching = self._selectors.matching(seen)
        chosen = choose(matching, seen.document) if len(matching) > 1 else next(iter(matching), None)
        wait = self._delay(chosen, seen.document) if chosen is not None and chosen.has_delay else 0
        if chosen is None or wait <= 0:
            self._stop_waiting(key)
            if chosen is not None:
                self._execute(chosen, seen)
        elif key not in self._waiting or self._waiting[key][0] is not chosen:
            self._stop_waiting(key)
            stage = chosen
            self._waiting[key] = stage, self.clock.after(wait, lambda: self._over(key, stage), outer=True)

    def _execute(self, stage: Stage, seen: Seen) -> None:
        """Execute a stage; what the store refuses is tried again, and said."""
        try:
            self._executor.execute(stage, seen)
        except StatusError as refusal:
            if refusal.code not in (404, 409):
                self.record(self.kind, seen.document, "FailedStage", f"{stage.name}: {refusal.message}", "Warning")
                if stage.name not in self._reported:
                    self._reported.add(stage.name)
                    log.warning("%s: %s", stage.name, refusal.message)
            raise

    def _delay(self, stage: Stage, document: Document) -> int:
        return stage.delay(document, self.clock.now(), lambda: dice(document, "delay"))

    def _stop_waiting(self, key: Key) -> None:
        waiting = self._waiting.pop(key, None)
        if waiting is not None:
            waiting[1].cancel()

    def _over(self, key: Key, stage: Stage) -> None:
        del self._waiting[key]
        self._due_stage[key] = stage
        self.enqueue(key)

    def _changed(self, change: Change) -> None:
        key = change.stored.namespace, change.stored.name
        if change.type == "DELETED":
            self._stop_waiting(key)
            self._due_stage.pop(key, None)
            return
        if key in self._waiting or self._selectors.possible(change.stored):
            self.enqueue(key)

    def _stages_changed(self, change: Change) -> None:
        self._read_stages()
        for stored in self.store.list(self.kind):
            self.enqueue((stored.namespace, stored.name))

    def _read_stages(self) -> None:
        """Stage objects in the cluster for this kind take the place of the default ones.

        An unchanged Stage keeps its identity, so that objects that wait for its delay go on waiting.
        """
        self._stages = {
            document["metadata"]["name"]: self._kept(document, stage)
            for document, stage in usable_stages(self.store, self._reported)
        }
        found = [stage for _, stage in self._stages.values()]
        own = [stage for stage in found if stage.kind == (self.kind.api_version, self.kind.kind) and stage.is_selective]
        defaults = default_stages(self.defaults, self.store.release) if self.defaults else ()
        self._selectors = SelectorCache(own or defaults)

    def _kept(self, document: Document, stage: Stage) -> tuple[Document, Stage]:
        spec: Document = document.get("spec") or {}
        known = self._stages.get(document["metadata"]["name"])
        return known if known is not None and known[0] == spec else (spec, stage)


def choose(matching: Sequence[Stage], document: Document) -> Stage | None:
    """One of the stages that match, by their weights; where none has one, each is as likely."""
    if len(matching) < 2:
        return matching[0] if matching else None
    weights = [stage.weight(document) for stage in matching]
    total = sum(weight for weight in weights if weight is not None)
    if not total:
        known = [stage for stage, weight in zip(matching, weights, strict=True) if weight is not None]
        among = known or list(matching)
        return among[int(dice(document, "weight") * len(among))]
    point = int(dice(document, "weight") * total)
    for stage, weight in zip(matching, weights, strict=True):
        point -= max(0, weight or 0)
        if point < 0 and weight:
            return stage
    return matching[-1]


def dice(document: Document, salt: str) -> float:
    """A number from 0 to 1 that is the same for the same object at the same revision of its spec and status."""
    meta = document["metadata"]
    parts = salt, meta.get("namespace", ""), meta.get("name", ""), meta.get("uid", ""), meta.get("resourceVersion", "")
    return int.from_bytes(hashlib.blake2b("/".join(parts).encode(), digest_size=6).digest()) / 2**48


def _is_unreachable(node: Stored) -> bool:
    if b'"Unknown"' not in node.data:
        return False
    conditions = node.document().get("status", {}).get("conditions", [])
    return any(condition["type"] == "Ready" and condition["status"] == "Unknown" for condition in conditions)


class PodLifecycle(Lifecycle):
    """Runs the stages of pods: the status that a kubelet would report, while its node answers."""

    name: ClassVar[str] = "pod"
    served: ClassVar[tuple[str, str]] = ("v1", "Pod")
    defaults: ClassVar[str] = "pod"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._nodes = context.kind("v1", "Node")
        self._unreachable: set[str] = set()
        """Nodes whose kubelet does not answer: their pods stay as they are, deleted ones too."""

    def watches(self) -> Mapping[Kind, Listener]:
        return {**super().watches(), self._nodes: self._node_changed}

    def start(self) -> None:
        super().start()
        self._unreachable = {stored.name for stored in self.store.list(self._nodes) if _is_unreachable(stored)}

    def _node_changed(self, change: Change) -> None:
        name, is_unreachable = change.stored.name, change.type != "DELETED" and _is_unreachable(change.stored)
        if is_unreachable:
            self._unreachable.add(name)
        elif name in self._unreachable:
            self._unreachable.discard(name)
            for stored in self.store.list(self.kind):
                self.enqueue((stored.namespace, stored.name))

    def _is_silent(self, key: Key) -> bool:
        stored = self.store.find(self.kind, key[1], key[0])
        return stored is not None and stored.document()["spec"].get("nodeName") in self._unreachable

    def sync(self, key: Key) -> None:
        if self._unreachable and self._is_silent(key):
            return
        kubelet = self.context.kubelet
        stored = self.store.find(self.kind, key[1], key[0]) if kubelet is not None else None
        if kubelet is None or stored is None:
            super().sync(key)
        elif (wait := kubelet.time_to_wait(stored)) > 0:
            self.enqueue_after(key, wait)
        elif not kubelet.rejects(stored):
            super().sync(key)


class OtherLifecycles(QueueController):
    """Runs the stages of all other kinds; these come only from Stage objects in the cluster."""

    name: ClassVar[str] = "pod"
    reads_pods: ClassVar[bool] = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        serve_stages(context.store)
        self._lifecycles: dict[tuple[str, str], Lifecycle] = {}
        self._reported: set[str] = set()

    def watches(self) -> Mapping[Kind, Listener]:
        return {STAGE: lambda change: self._start_lifecycles()}

    def owners(self) -> Iterable[Kind]:
        return ()

    def start(self) -> None:
        super().start()
        self._start_lifecycles()

    def stop(self) -> None:
        super().stop()
        for lifecycle in self._lifecycles.values():
            lifecycle.stop()
        self._lifecycles.clear()

    def has_work(self) -> bool:
        return any(lifecycle.has_work() for lifecycle in self._lifecycles.values())

    def wait_condition(self) -> bool:
        return not self.has_work()

    def backlogs(self) -> Sequence[Sized]:
        """Lifecycles are added while the controller runs; without any there is nothing to do."""
        return (self._lifecycles,)

    def work(self) -> bool:
        worked = False
        for lifecycle in self._lifecycles.values():
            worked = lifecycle.work() or worked
        return worked

    def _start_lifecycles(self) -> None:
        """Start a lifecycle for every kind that a Stage refers to."""
        for _, stage in usable_stages(self.store, self._reported):
            wanted = stage.kind
            kind = self.store.kinds.named(*wanted)
            if wanted not in self._lifecycles and wanted not in (("v1", "Pod"), ("v1", "Node")) and kind is not None:
                self._lifecycles[wanted] = OtherLifecycle(self.context, kind)
                self._lifecycles[wanted].start()


class OtherLifecycle(Lifecycle):
    """The stages of any kind."""

    name: ClassVar[str] = "pod"
