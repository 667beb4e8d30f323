"""Executes the steps of a Stage."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from seatrial.controllers.framework.controller import Context
from seatrial.controllers.stages.field_reader import Seen
from seatrial.controllers.stages.stage import Stage
from seatrial.controllers.stages.steps import (
    ApplyStep,
    DeleteStep,
    EventStep,
    FinalizerStep,
    LookKey,
    PatchStep,
)
from seatrial.model.documents import Document, decode, encode
from seatrial.model.errors import ConfigError, NotFound
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND, to_micro_time, to_time
from seatrial.store import Memo, Stored
from seatrial.store.options import DeleteOptions, Patch, PatchOptions
from seatrial.store.registry import write_status

REMEMBERED = 4096
"""How many results of one template are kept."""
MANAGER = "stages"
WHOLE_SECONDS = frozenset((("", "Pod"), ("", "Node")))
"""Kinds whose status has times in whole seconds: what is written within one second is equal, but for texts."""


class Executor:
    """Executes stages on the objects of one kind."""

    def __init__(self, context: Context, kind: Kind, writer: str) -> None:
        self._context = context
        self._store = context.store
        self._kind = kind
        self._writer = writer
        self._start = context.clock.now()
        self._made: defaultdict[PatchStep, Memo[LookKey, bytes]] = defaultdict(lambda: Memo(REMEMBERED))
        """By step: the statuses that it made, in this run. The first object of each status goes another way."""

    def execute(self, stage: Stage, seen: Seen) -> None:
        """Execute the steps of a stage in order; after a deletion only events follow."""
        is_deleted = False
        for step in stage.steps:
            if isinstance(step, PatchStep):
                if not is_deleted:
                    self._patch(step, seen)
            elif isinstance(step, EventStep):
                self._tell(step, seen.document)
            elif is_deleted:
                continue
            elif isinstance(step, DeleteStep):
                self._delete(seen.stored)
                is_deleted = True
            elif isinstance(step, FinalizerStep):
                self._set_finalizers(seen.stored, step)
            else:
                self._apply(step, seen.document)

    def _patch(self, step: PatchStep, seen: Seen) -> None:
        now = self._context.clock.now()
        stored = self._store.find(self._kind, seen.stored.name, seen.stored.namespace)
        if stored is None:
            return
        is_coarse = self._kind.group_kind in WHOLE_SECONDS
        # After another step the status is no longer the one that the template reads.
        is_first = stored.revision == seen.stored.revision
        key = step.rendering.key(stored, now // SECOND if is_coarse else now) if step.is_status and is_first else None
        made = self._made[step]
        known = made.get(key) if key is not None else None
        reported = self._reported(step, stored)
        if known is not None:
            status = encode(reported | decode(known)) if reported else known
            write_status(self._store, stored, status, self._writer)
            return
        body = step.body(seen.document, (now, self._start))
        if reported and "podIP" in body["status"]:
            reported = {}
        elif reported:
            body["status"] = reported | body["status"]
        patch = Patch(step.type, body)
        written = self._store.patch(
            self._kind,
            stored.name,
            patch,
            namespace=stored.namespace,
            subresource=step.subresource,
            writer=self._writer,
            options=PatchOptions(field_manager=MANAGER if step.type == "apply" else "", force=step.type == "apply"),
        )
        status = written.encoded_status
        if key is not None and not (is_coarse and to_micro_time(now).encode() in status):
            made[key] = _without(status, reported)

    def _reported(self, step: PatchStep, stored: Stored) -> Document:
        """The fields that the kubelet adds to a pod's status."""
        kubelet = self._context.kubelet
        if kubelet is None or not step.is_status or step.type == "json" or self._kind.group_kind != ("", "Pod"):
            return {}
        return kubelet.reported(stored)

    def _apply(self, step: ApplyStep, document: Document) -> None:
        body = step.rendering.body(document, (self._context.clock.now(), self._start))
        kind = self._store.kinds.named(body.get("apiVersion", ""), body.get("kind", ""))
        if kind is None:
            raise ConfigError("Stage", "template", f"{body.get('apiVersion')} {body.get('kind')} is not served")
        meta: Document = body["metadata"]
        namespace = meta.get("namespace") or document["metadata"].get("namespace", "") if kind.namespaced else ""
        if step.type != "apply" and not step.subresource and self._store.find(kind, meta["name"], namespace) is None:
            self._store.create(kind, body, namespace=namespace, writer=self._writer)
            return
        self._store.patch(
            kind,
            meta["name"],
            Patch(step.type, body),
            namespace=namespace,
            subresource=step.subresource,
            writer=self._writer,
            options=PatchOptions(field_manager=MANAGER, force=step.type == "apply"),
        )

    def _delete(self, stored: Stored) -> None:
        options = DeleteOptions(grace_period_seconds=0)
        try:
            self._store.delete(
                self._kind, stored.name, namespace=stored.namespace, writer=self._writer, options=options
            )
        except NotFound:
            return

    def _set_finalizers(self, stored: Stored, step: FinalizerStep) -> None:
        def change(document: Document) -> None:
            finalizers = step.changed(document["metadata"].pop("finalizers", []))
            if finalizers:
                document["metadata"]["finalizers"] = finalizers

        self._modify(stored, change)

    def _modify(self, stored: Stored, change: Callable[[Document], None]) -> None:
        try:
            self._store.modify(self._kind, stored.name, change, namespace=stored.namespace, writer=self._writer)
        except NotFound:
            return

    def _tell(self, step: EventStep, document: Document) -> None:
        meta, now = document["metadata"], self._context.clock.now()
        namespace = meta.get("namespace", "default")
        involved: dict[str, Any] = {"apiVersion": self._kind.api_version, "kind": self._kind.kind}
        involved |= {key: meta[key] for key in ("name", "namespace", "uid", "resourceVersion") if key in meta}
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{meta['name']}.{self._store.revision:x}", "namespace": namespace},
            "involvedObject": involved,
            "type": step.type,
            "reason": step.reason,
            "message": step.message,
            "source": {"component": self._writer},
            "firstTimestamp": to_time(now),
            "lastTimestamp": to_time(now),
            "count": 1,
        }
        self._store.create(self._context.kind("v1", "Event"), event, namespace=namespace, writer=self._writer)


def _without(status: bytes, fields: Document) -> bytes:
    """An encoded status without some of its fields."""
    if not fields:
        return status
    return encode({name: value for name, value in decode(status).items() if name not in fields})
