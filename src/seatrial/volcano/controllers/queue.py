"""The Queue controller: opens and closes queues, and puts every queue under root.

Upstream: pkg/controllers/queue. The counts of PodGroups by phase are metrics there, not status.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

import msgspec

from seatrial.controllers.framework import Context, Key, Listener
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.store import Change, StatusView, Stored, View
from seatrial.volcano.apis import POD_GROUP, QUEUE, ROOT_QUEUE
from seatrial.volcano.apis.labels import CLOSED_BY_PARENT
from seatrial.volcano.controllers.requests import RequestController

OPEN, CLOSED, CLOSING, UNKNOWN = "Open", "Closed", "Closing", "Unknown"
SYNC, OPEN_QUEUE, CLOSE_QUEUE = "SyncQueue", "OpenQueue", "CloseQueue"
SHUT: Final = (CLOSED, CLOSING)


class _Spec(msgspec.Struct):
    queue: str = ""


class _GroupStatus(msgspec.Struct):
    phase: str = ""


class _Group(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)


class _QueueStatus(msgspec.Struct):
    state: str = ""


_QUEUE_STATUS = StatusView(_QueueStatus)
_GROUP = View(_Group)
_GROUP_STATUS = StatusView(_GroupStatus)


class VolcanoQueue(RequestController[str]):
    """Keeps the state of queues; a request is the name of an action."""

    name: ClassVar[str] = "volcano-queue"
    target: ClassVar[tuple[str, str]] = QUEUE

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._groups = context.kind(*POD_GROUP)
        self._phases: dict[str, dict[Key, str]] = {}
        """The phases of PodGroups, by queue."""
        self._queue_of: dict[Key, str] = {}
        """The queue of each PodGroup."""
        self._states: dict[str, str] = {}
        """The states of queues that exist."""

    def watches(self) -> Mapping[Kind, Listener]:
        return {
            self.kind: self._queue_changed,
            self._groups: self._group_changed,
            self.commands: self.command_changed,
        }

    def start(self) -> None:
        for stored in self.store.list(self._groups):
            self._note(stored)
        for stored in self.store.list(self.kind):
            self._states[stored.name] = _QUEUE_STATUS.read(stored).state
            self._request(stored.name, SYNC)
        super().start()

    def stop(self) -> None:
        super().stop()
        self._phases.clear()
        self._queue_of.clear()
        self._states.clear()

    def serve(self, key: Key, request: str) -> None:
        stored = self.store.find(self.kind, key[1])
        if stored is not None:
            self._execute(stored.document(), request)

    def serve_command(self, key: Key, command: Document) -> None:
        self.request(key, command.get("action") or SYNC)

    def _execute(self, queue: Document, action: str) -> None:
        """The state machine of pkg/controllers/queue/state."""
        state = _state(queue)
        is_empty = not self._phases.get(queue["metadata"]["name"])
        if action == OPEN_QUEUE:
            if state == OPEN:
                self._sync(queue, OPEN)
            else:
                self._open(queue)
        elif action == CLOSE_QUEUE:
            shut = CLOSED if is_empty else CLOSING
            if state in ("", OPEN, UNKNOWN):
                self._close(queue, shut)
            else:
                self._sync(queue, CLOSED if state == CLOSED else shut)
        elif state == CLOSING:
            self._sync(queue, CLOSED if is_empty else CLOSING)
        else:
            self._sync(queue, state or OPEN)

    def _sync(self, queue: Document, state: str) -> None:
        name = queue["metadata"]["name"]
        if name != ROOT_QUEUE and not (queue.get("spec") or {}).get("parent"):
            self.store.modify(self.kind, name, _under_root, writer=self.name)
        self._set_state(name, state)
        if name == ROOT_QUEUE:
            return
        queue = self.store.get(self.kind, name).document()
        parent = self.store.find(self.kind, queue["spec"]["parent"])
        above = _state(parent.document()) if parent is not None else ""
        if above in SHUT and state not in SHUT:
            self._annotate(name, "true")
            self._request(name, CLOSE_QUEUE)
        elif above == OPEN and state in SHUT and _closed_by_parent(queue):
            self._request(name, OPEN_QUEUE)

    def _open(self, queue: Document) -> None:
        name, parent = queue["metadata"]["name"], (queue.get("spec") or {}).get("parent") or ROOT_QUEUE
        if parent != ROOT_QUEUE:
            found = self.store.find(self.kind, parent)
            if found is None or _state(found.document()) in SHUT:
                return
        for child in self._children(name):
            if _closed_by_parent(child):
                self._request(child["metadata"]["name"], OPEN_QUEUE)
        self._set_state(name, OPEN)
        self._annotate(name, "false")

    def _close(self, queue: Document, state: str) -> None:
        name = queue["metadata"]["name"]
        if name == ROOT_QUEUE:
            return
        for child in self._children(name):
            if _state(child) not in SHUT:
                self._annotate(child["metadata"]["name"], "true")
                self._request(child["metadata"]["name"], CLOSE_QUEUE)
        self._set_state(name, state)
        self.record(self.kind, queue, CLOSE_QUEUE, "Close queue succeed")

    def _set_state(self, name: str, state: str) -> None:
        def change(queue: Document) -> None:
            queue["status"] = {**(queue.get("status") or {}), "state": state}

        self.store.modify(self.kind, name, change, writer=self.name, subresource="status")

    def _annotate(self, name: str, value: str) -> None:
        def change(queue: Document) -> None:
            queue["metadata"].setdefault("annotations", {})[CLOSED_BY_PARENT] = value

        self.store.modify(self.kind, name, change, writer=self.name)

    def _children(self, name: str) -> list[Document]:
        queues = [stored.document() for stored in self.store.list(self.kind)]
        return [queue for queue in queues if (queue.get("spec") or {}).get("parent") == name]

    # What is heard.

    def _request(self, queue: str, action: str) -> None:
        self.request(("", queue), action)

    def _queue_changed(self, change: Change) -> None:
        name = change.stored.name
        if change.type == "DELETED":
            self._states.pop(name, None)
            return
        self._states[name] = _QUEUE_STATUS.read(change.stored).state
        before = change.previous
        if before is None or _parent(before) != _parent(change.stored):
            self._request(change.stored.name, SYNC)

    def _group_changed(self, change: Change) -> None:
        stored = change.stored
        if change.type == "DELETED":
            key = stored.namespace, stored.name
            queue = self._queue_of.pop(key, "")
            self._phases.get(queue, {}).pop(key, None)
        elif not self._note(stored, is_new=change.subresource != "status"):
            return
        else:
            queue = self._queue_of[stored.namespace, stored.name]
        # A queue that stays open has nothing to do with the phases of its groups.
        if self._states.get(queue, OPEN) != OPEN:
            self._request(queue, SYNC)

    def _note(self, stored: Stored, *, is_new: bool = True) -> bool:
        """Take the new state of a PodGroup; whether its phase has changed. A status write leaves its queue."""
        key = stored.namespace, stored.name
        if is_new or key not in self._queue_of:
            self._queue_of[key] = _GROUP.read(stored).spec.queue
        phases = self._phases.setdefault(self._queue_of[key], {})
        phase = _GROUP_STATUS.read(stored).phase
        changed = phases.get(key) != phase
        phases[key] = phase
        return changed


def _state(queue: Document) -> str:
    state: str = (queue.get("status") or {}).get("state", "")
    return state


def _parent(stored: Stored) -> str:
    parent: str = (stored.document().get("spec") or {}).get("parent", "")
    return parent


def _closed_by_parent(queue: Document) -> bool:
    annotations: dict[str, str] = queue["metadata"].get("annotations") or {}
    return annotations.get(CLOSED_BY_PARENT) == "true"


def _under_root(queue: Document) -> None:
    queue.setdefault("spec", {})["parent"] = ROOT_QUEUE
