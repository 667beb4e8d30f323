"""Stages at work: every object of a kind moves from stage to stage, at once or when its delay has passed.

Upstream: KWOK's lifecycle (pkg/utils/lifecycle). Where several stages match, weights decide; the dice are seeded by the
object's uid and revision, so a run repeats itself.
"""

import hashlib
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import ClassVar

from seatrial.clock.virtual import Timer
from seatrial.controllers.controller import Context, Key, Listener, QueueController
from seatrial.controllers.stages.stage import Stage
from seatrial.model import yamls
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.store.objects import Change, Stored
from seatrial.store.options import DeleteOptions, Patch

STAGE = ("kwok.x-k8s.io/v1alpha1", "Stage")


def default_stages(name: str) -> list[Stage]:
    """The stages that come with Seatrial for pods or nodes."""
    text = (resources.files("seatrial.controllers.stages") / "default" / f"{name}.yaml").read_text()
    return [Stage(document, f"default stage {name}") for document in yamls.load_all(text) if document]


class Lifecycle(QueueController):
    """Plays the stages of one kind."""

    served: ClassVar[tuple[str, str]]
    defaults: ClassVar[str]

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind(*self.served)
        self._start = context.clock.now()
        self._stages = default_stages(self.defaults)
        self._waiting: dict[Key, Timer] = {}
        self._due_stage: dict[Key, Stage] = {}

    def watches(self) -> Mapping[Kind, Listener]:
        stages = self.store.kinds.named(*STAGE)
        own: dict[Kind, Listener] = {self.kind: self._changed}
        return own if stages is None else own | {stages: self._stages_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def start(self) -> None:
        self._read_stages()
        super().start()

    def stop(self) -> None:
        super().stop()
        for timer in self._waiting.values():
            timer.cancel()
        self._waiting.clear()
        self._due_stage.clear()

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            return
        document = stored.document()
        stage = self._due_stage.pop(key, None)
        if stage is not None and stage.matches(document):
            self._play(stage, stored, document)
            return
        chosen = self._choose(document)
        if chosen is None:
            return
        wait = chosen.delay(document, self.clock.now(), lambda: _dice(document, chosen.name))
        if wait <= 0:
            self._play(chosen, stored, document)
        elif key not in self._waiting:
            self._waiting[key] = self.clock.after(wait, lambda: self._over(key, chosen), outer=True)

    def _choose(self, document: Document) -> Stage | None:
        matching = [stage for stage in self._stages if stage.matches(document)]
        if len(matching) < 2:
            return matching[0] if matching else None
        weights = [max(0, stage.weight(document)) for stage in matching]
        if not sum(weights):
            weights = [1] * len(matching)
        point = _dice(document, "weight") * sum(weights)
        for stage, weight in zip(matching, weights, strict=True):
            point -= weight
            if point < 0:
                return stage
        return matching[-1]

    def _over(self, key: Key, stage: Stage) -> None:
        del self._waiting[key]
        self._due_stage[key] = stage
        self.enqueue(key)

    def _play(self, stage: Stage, stored: Stored, document: Document) -> None:
        now = self.clock.now()
        if stage.finalizers:
            self._set_finalizers(stored, stage.finalizers)
        if stage.deletes:
            self._delete(stored)
            return
        for step in stage.steps:
            patch = Patch(step.type, step.body(document, now, self._start))
            self.store.patch(
                self.kind,
                stored.name,
                patch,
                namespace=stored.namespace,
                subresource=step.subresource,
                writer=self.name,
            )

    def _delete(self, stored: Stored) -> None:
        options = DeleteOptions(grace_period_seconds=0)
        try:
            self.store.delete(self.kind, stored.name, namespace=stored.namespace, writer=self.name, options=options)
        except NotFound:
            return

    def _set_finalizers(self, stored: Stored, wanted: Document) -> None:
        removed = {item["value"] for item in wanted.get("remove", [])}
        added = [item["value"] for item in wanted.get("add", [])]

        def change(document: Document) -> None:
            meta = document["metadata"]
            kept = [] if wanted.get("empty") else [f for f in meta.get("finalizers", []) if f not in removed]
            meta["finalizers"] = kept + [value for value in added if value not in kept]

        self.store.modify(self.kind, stored.name, change, namespace=stored.namespace, writer=self.name)

    def _changed(self, change: Change) -> None:
        key = change.stored.namespace, change.stored.name
        if change.type == "DELETED":
            waiting = self._waiting.pop(key, None)
            if waiting is not None:
                waiting.cancel()
            return
        self.enqueue(key)

    def _stages_changed(self, change: Change) -> None:
        self._read_stages()
        for stored in self.store.list(self.kind):
            self.enqueue((stored.namespace, stored.name))

    def _read_stages(self) -> None:
        """Stage objects in the cluster for this kind take the place of the default ones."""
        kind = self.store.kinds.named(*STAGE)
        found = [Stage(stored.document()) for stored in self.store.list(kind)] if kind is not None else []
        ours = [stage for stage in found if stage.kind == self.served]
        self._stages = ours or default_stages(self.defaults)


def _dice(document: Document, salt: str) -> float:
    meta = document["metadata"]
    text = f"{salt}/{meta.get('namespace', '')}/{meta.get('name', '')}/{meta.get('uid', '')}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest()) / 2**56


class PodLifecycle(Lifecycle):
    """What a kubelet would do with its pods."""

    name: ClassVar[str] = "pod"
    served: ClassVar[tuple[str, str]] = ("v1", "Pod")
    defaults: ClassVar[str] = "pod"
