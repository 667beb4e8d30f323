"""Drain: cordons and drains the nodes that carry the annotation, command by command.

A scenario has fixed operations; a drain asks again, waits, and takes the next node when one is done. So a scenario
marks nodes (`options.DRAIN`), and this controller does what `kubectl drain --ignore-daemonsets` would (RunDrain of
staging/src/k8s.io/kubectl/pkg/cmd/drain, v1.36). With a replacement it does what managed node pools do in an upgrade:
new node, cordon, drain, delete, next node.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import msgspec

from seatrial.controllers.drain.evictions import NodeDrain
from seatrial.controllers.drain.options import (
    DRAIN,
    DRAINED,
    DrainOptions,
    DrainRecord,
    NodeReplacement,
    read_drain_options,
)
from seatrial.controllers.drain.pod_filters import pods_to_evict
from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.controllers.framework.pod_row import PodRow
from seatrial.model.documents import Document
from seatrial.model.durations import parse_duration
from seatrial.model.errors import AlreadyExists, NotFound
from seatrial.model.kinds import Kind
from seatrial.model.times import to_time
from seatrial.store import Change
from seatrial.store.registry import annotate

MARK = DRAIN.encode()
HOSTNAME = "kubernetes.io/hostname"


@dataclass(slots=True)
class Command:
    """The nodes of one command: those that wait, and those that are being drained."""

    waiting: deque[str] = field(default_factory=deque)
    active: dict[str, NodeDrain | None] = field(default_factory=dict)
    """None: its replacement is awaited, or its turn is over and its replacement starts."""
    is_over: bool = False


class Drain(QueueController):
    """Drains nodes; its keys are nodes."""

    name: ClassVar[str] = "drain"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("v1", "Node")
        self._pods = context.kind("v1", "Pod")
        self._budgets = context.kind("policy/v1", "PodDisruptionBudget")
        self._daemon_sets = context.kind("apps/v1", "DaemonSet")
        self._commands: dict[str, Command] = {}
        self._options: dict[str, DrainOptions] = {}
        self._places: dict[Key, NodeDrain] = {}
        """The drains that evict, by pod."""

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._node_changed, self._budgets: self._budget_changed}

    def owners(self) -> Iterable[Kind]:
        return ()

    def start(self) -> None:
        super().start()
        self._unsubscribe.append(self.context.pods.listen(self._pod_changed, needed=self._places))
        for stored in self.store.list(self.kind):
            if MARK in stored.data:
                self.enqueue(("", stored.name))

    def stop(self) -> None:
        super().stop()
        for command in self._commands.values():
            for drain in command.active.values():
                if drain is not None:
                    drain.stop()
        self._commands.clear()
        self._options.clear()
        self._places.clear()

    def sync(self, key: Key) -> None:
        """Take in a node that is marked; nodes that are marked together are all known before the first is drained."""
        self._take_in(key[1])
        if not self._queue:
            self._advance()

    def _take_in(self, node: str) -> None:
        stored = self.store.find(self.kind, node)
        notes = (stored.document()["metadata"].get("annotations") or {}) if stored is not None else {}
        if DRAIN not in notes or DRAINED in notes or node in self._options:
            return
        try:
            options = read_drain_options(notes[DRAIN])
        except ValueError as error:
            self._write(node, DrainRecord("Failed", errors=[str(error)]))
            return
        self._options[node] = options
        if options.cordons_first:
            self._cordon(node)
        self._commands.setdefault(self._command_of(node), Command()).waiting.append(node)

    def _command_of(self, node: str) -> str:
        return self._options[node].command or f"node/{node}"

    def _advance(self) -> None:
        for command in self._commands.values():
            while command.waiting and not command.is_over:
                node = command.waiting[0]
                if len(command.active) >= self._options[node].at_once:
                    break
                command.waiting.popleft()
                self._take_turn(command, node)

    def _take_turn(self, command: Command, node: str) -> None:
        command.active[node] = None
        new = self._options[node].replacement
        if new is not None and new.surge:
            self._create(node, new)
            delay = parse_duration(new.ready_after)
            self.clock.after(delay, lambda: self._replaced_first(command, node), outer=True)
        else:
            self._drain(command, node)

    def _replaced_first(self, command: Command, node: str) -> None:
        self._drain(command, node)
        self._advance()

    def _drain(self, command: Command, node: str) -> None:
        options = self._options[node]
        try:
            self._cordon(node)
        except NotFound:
            command.active.pop(node, None)
            return
        rows = sorted(self.context.pods.on_node(node), key=lambda row: (row.namespace, row.name))
        pods = [self.store.get(self._pods, row.name, row.namespace).document() for row in rows]
        chosen, errors = pods_to_evict(
            pods, self._has_daemon_set, force=options.force, delete_emptydir_data=options.delete_emptydir_data
        )
        drain = NodeDrain(node, options, self.store, self.clock, self.name, self._changed)
        command.active[node] = drain
        drain.record.errors = errors
        keys = [((pod["metadata"]["namespace"], pod["metadata"]["name"]), pod["metadata"]["uid"]) for pod in chosen]
        self._places.update((key, drain) for key, _ in keys if not errors)
        drain.start(keys if not errors else [])

    def _changed(self, drain: NodeDrain) -> None:
        """Write what has come of a drain; at its end the next node has its turn."""
        record = drain.record
        if drain.left:
            self._write(drain.node, record)
            return
        drain.stop()
        for pod in [pod for pod, at in self._places.items() if at is drain]:
            del self._places[pod]
        record.phase = "Failed" if record.errors else "Drained"
        record.finished = to_time(self.clock.now())
        self._write(drain.node, record)
        command = self._commands[self._command_of(drain.node)]
        command.active.pop(drain.node, None)
        if drain.options.delete:
            self._replace(command, drain)
        if not command.is_over:
            self.enqueue(("", drain.node))

    def _replace(self, command: Command, drain: NodeDrain) -> None:
        """Delete a drained node, and let its replacement come where that is not there yet."""
        if drain.record.phase == "Failed":
            command.is_over = True
            return
        new, old = drain.options.replacement, self.store.get(self.kind, drain.node).document()
        self.store.delete(self.kind, drain.node, writer=self.name)
        if new is None or new.surge:
            return
        command.active[drain.node] = None
        delay = parse_duration(new.ready_after)

        def comes() -> None:
            self._create_like(old, new)
            command.active.pop(drain.node, None)
            self._advance()

        self.clock.after(delay, comes, outer=True)

    def _create(self, node: str, new: NodeReplacement) -> None:
        self._create_like(self.store.get(self.kind, node).document(), new)

    def _create_like(self, old: Document, new: NodeReplacement) -> None:
        """Create a node of the same sort; a taint or condition of the old one's own state is not carried over."""
        labels = {**(old["metadata"].get("labels") or {}), HOSTNAME: new.name}
        taints = [each for each in old["spec"].get("taints") or () if not each["key"].startswith("node.kubernetes.io/")]
        status = {key: old["status"][key] for key in ("allocatable", "capacity") if key in old.get("status", {})}
        info = (old.get("status") or {}).get("nodeInfo")
        if info:
            status["nodeInfo"] = {**info, "kubeletVersion": new.kubelet_version or info.get("kubeletVersion", "")}
        document = {"metadata": {"name": new.name, "labels": labels}, "status": status}
        spec = {"taints": taints} if taints else {}
        try:
            self.store.create(
                self.kind, {"apiVersion": "v1", "kind": "Node", **document, "spec": spec}, writer=self.name
            )
        except AlreadyExists:
            return

    def _has_daemon_set(self, namespace: str, name: str) -> bool:
        return self.store.find(self._daemon_sets, name, namespace) is not None

    def _cordon(self, node: str) -> None:
        def cordon(document: Document) -> None:
            document.setdefault("spec", {})["unschedulable"] = True

        self.store.modify(self.kind, node, cordon, writer=self.name)

    def _write(self, node: str, record: DrainRecord) -> None:
        stored = self.store.find(self.kind, node)
        if stored is not None:
            annotate(self.store, stored, DRAINED, msgspec.json.encode(record).decode(), self.name)

    def _node_changed(self, change: Change) -> None:
        if change.type != "DELETED" and change.writer != self.name and MARK in change.stored.data:
            self.enqueue(("", change.stored.name))

    def _budget_changed(self, change: Change) -> None:
        for pod, drain in self._places.items():
            if pod[0] == change.stored.namespace:
                drain.touch(pod)

    def _pod_changed(self, old: PodRow | None, new: PodRow | None) -> None:
        row = new or old
        if row is not None and (drain := self._places.get((row.namespace, row.name))) is not None:
            drain.touch((row.namespace, row.name))
