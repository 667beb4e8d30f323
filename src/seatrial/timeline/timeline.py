"""The timeline: an append-only record of every write and every decision of a run.

The store calls `listen` after each write, the scheduler `decided` before and `record` after each attempt, and the
engine sets the step and reports the end of each loop, of the scheduling and of the step. Rows go to
`timeline.parquet`; entries in the wire shape of the scenario are encoded at once and handed over step by step.
"""

from collections.abc import Callable, Collection, Hashable
from itertools import count
from typing import Literal

from seatrial.model.documents import Document, encode
from seatrial.model.kinds import Kind
from seatrial.model.writers import is_operation, operation_writer
from seatrial.scheduler import ERROR, WAITING, Decision
from seatrial.store import Change, Memo, Stored
from seatrial.timeline.attempt_lists import Tried, tried_in
from seatrial.timeline.decisions import NO_CELLS, Dictionary, bytes_of, plugin_results, reasons_in
from seatrial.timeline.diffs import merge_diff
from seatrial.timeline.pods import PodHistories, PodHistory, has_ended
from seatrial.timeline.resume import PastOfPod, last_number
from seatrial.timeline.rows import Row, Rows
from seatrial.timeline.unshown import Unshown
from seatrial.timeline.wire import Entry, Shape, attempt, operated
from seatrial.timeline.writes import Verb, verb_of

Level = Literal["none", "summary", "full"]
CELLS_ON_THE_WIRE = 20_000
CELLS_IN_THE_TABLE = 20_000_000
PATCHES_REMEMBERED = 1024
SCHEDULER, VOLCANO = "scheduler", "volcano"
SCHEDULERS = (SCHEDULER, VOLCANO)
"""Writers whose deletions of pods are preemptions."""
_NOT_SHOWN = None, 0, "", "", b"", 0
SNAPSHOT = "snapshot"
POD, NODE = ("", "Pod"), ("", "Node")
_SHOWING = ("Create", "Patch")
"""Operations whose entries show the object afterwards."""


class Timeline:
    """The record of one run; a Recorder for the scheduler, a listener for the store."""

    def __init__(
        self,
        shape: Shape,
        rows: Rows | None = None,
        dictionary: Dictionary | None = None,
        *,
        level: Level = "full",
        cells: int = CELLS_ON_THE_WIRE,
        full_repeat: bool = False,
        is_taken: Callable[[str], bool] = lambda _: False,
        excluded_kinds: Collection[tuple[str, str]] = (),
    ) -> None:
        self.shape = shape
        self.rows = rows or Rows()
        self.level = level
        self.full_repeat = full_repeat
        """Whether an entry repeats attempts of earlier steps whole."""
        self.wants_cells = level == "full"
        self.dictionary = dictionary or Dictionary()
        self.pods = PodHistories()
        self.major = self.minor = 0
        self.operations = 0
        self.attempts = 0
        self.attempts_without_cells = 0
        self.unshown = Unshown()
        self.schedulers = set(SCHEDULERS)
        """Writers whose deletion of a pod is a preemption."""
        self.errors: dict[str, int] = {}
        """How many attempts failed with an error, by its message."""
        self.failing: dict[str, str] = {}
        """The pods whose last attempt failed with an error, with its message."""
        self._wire_cells, self._table_cells = cells, CELLS_IN_THE_TABLE
        self._entries: list[Entry] = []
        self._deciding: Decision | None = None
        """The attempt whose writes are being made, until an entry shows it."""
        self._shown = ""
        """The pod of the last attempt that an entry shows before it is recorded."""
        self._places: dict[str, tuple[PodHistory, int, str, str, bytes, int]] = {}
        self.keeps_places = False
        """Whether a scheduler may report an attempt after the entry that shows it."""
        self._tried: dict[str, int] = {}
        self._numbers = count(1)
        self._is_taken = is_taken
        self._excluded_kinds = frozenset(excluded_kinds)
        self._patches: Memo[tuple[Hashable, Hashable], bytes] = Memo(PATCHES_REMEMBERED)
        self._latest_attempt: tuple[Decision, bool, Row, int] | None = None
        """The latest attempt that is not repeated: whether its row has cells, its columns and their bytes."""
        self._operation: tuple[str, bytes] | None = None
        self._operation_seen = False
        self._now: int | None = None

    def listen(self, change: Change) -> None:
        """Record one write, unless it is of an excluded kind such as Scenario."""
        group_kind = change.stored.kind.group_kind
        if group_kind in self._excluded_kinds:
            return
        self._now = change.at
        history = self._follow(change) if group_kind == POD else None
        if self._operation is not None and is_operation(change.writer):
            self._operation_seen = True
            self._row(change, verb_of(change), *self._operation)
        elif change.subresource == "status":
            if group_kind == NODE:
                self.unshown.note_node(change)
            self._row(change, "", None, None)
        else:
            self._operate(change, history)

    def _operate(self, change: Change, history: PodHistory | None) -> None:
        """Record a write of a controller or a scheduler that may be an operation."""
        verb = verb_of(change)
        said = self._operation_of(change, verb, history) if verb else None
        if said is None:
            self._row(change, "", None, None)
            return
        id = self._next_id()
        self._row(change, verb, id, said)
        if history is not None and change.subresource == "binding":
            self._bound(change, history, id, said)
        elif history is not None and verb == "delete" and change.writer in self.schedulers:
            self._preempted(change, history, id, said)
        else:
            self._add(id, verb.capitalize(), *operated(said, None if verb == "delete" else change.stored.data))

    def begin(self, id: str, operation: bytes) -> None:
        """An operation of the spec is about to be carried out."""
        self._operation, self._operation_seen = (id, operation), False

    def end(self, verb: str, result: Stored | None, at: int) -> None:
        """It was carried out; `result` is the object afterwards (None: gone, or there never was one)."""
        assert self._operation is not None
        id, operation = self._operation
        self._operation = None
        self._add(id, verb, *operated(operation, result.data if result is not None and verb in _SHOWING else None))
        if not self._operation_seen:
            self._plain_row(id, verb.lower(), operation, result, at)

    def keeps_cells(self, visited: int) -> bool:
        return self.level == "full" and (visited <= self._wire_cells or visited <= self._table_cells)

    def decided(self, decision: Decision) -> None:
        """Take in a decision that a scheduler is about to carry out, so that the entries of its writes show it."""
        self._deciding = decision
        self._note_preemptor(decision)

    def record(self, decision: Decision) -> None:
        """Take one attempt of a scheduler down; one that is held counts when its wait is over."""
        self.attempts += decision.outcome != WAITING
        self._deciding = None
        self._now = decision.at
        key = decision.pod
        history = self.pods.find(key)
        self._tried[key] = self._tried.get(key, 0) + 1
        if decision.outcome == ERROR:
            self.errors[decision.message] = self.errors.get(decision.message, 0) + 1
            self.failing[key] = decision.message
        elif self.failing:
            self.failing.pop(key, None)
        cells = len(decision.visited)
        if history is not None and self._shown != key:
            self._add_attempt(history, self._attempt(decision, cells))
            self._note_preemptor(decision)
            if self._places:
                self._encode_again(history)
        elif history is None:
            self.unshown.attempts += 1
        self._shown = ""
        if self.level != "none":
            self._attempt_row(decision, cells)

    def note_attempt(self, key: str, attempt: bytes | None = None) -> None:
        """Record that a scheduler without decision records has tried a pod; `attempt` is its report, if any.

        It reports after it has bound the pod: an entry of this step that shows the pod is encoded again.
        """
        history = self.pods.find(key)
        if attempt is None:
            self._tried[key] = self._tried.get(key, 0) + 1
        elif history is not None:
            self._add_attempt(history, Tried(self.shape.step(self.major, self.minor), attempt))
            self._encode_again(history)

    def _encode_again(self, history: PodHistory) -> None:
        """Show an attempt in the entry of a write that a scheduler made before it reported the attempt.

        The latest entry under this name may be of an earlier pod.
        """
        shown, place, id, operation, pod, minor = self._places.get(history.key, _NOT_SHOWN)
        if shown is history:
            body = self._result(history, pod)
            self._entries[place] = self.shape.entry(id, self.major, minor, operation, *body)

    def resume(self, published: Document) -> None:
        """Go on with a timeline that an earlier process published: its ids stay taken."""
        self._numbers = count(last_number(published) + 1)

    def finish_loop(self) -> None:
        """A controller has come to the end of one loop."""
        self.pods.forget_gone()

    def is_barely_tried(self) -> bool:
        """Whether a pod that is pending was tried only once in this step: KEP-140 requires two attempts for each."""
        for key, times in self._tried.items():
            if times < 2:
                history = self.pods.find(key)
                if history is not None and history.is_pending:
                    return True
        return False

    def finish_scheduling(self) -> None:
        """End the scheduling of this step: add entries for the pods that were tried and are still pending."""
        self.finish_loop()
        for key in self._tried:
            history = self.pods.find(key)
            if history is not None and history.is_pending:
                id = self._next_id()
                self._add(id, "PodUnscheduled", *self._result(history, history.latest.data))
                self._plain_row(id, "unscheduled", None, history.latest, self._now)
        self._tried.clear()

    def finish_step(self) -> list[Entry]:
        """The encoded entries of the step that ends."""
        self.finish_loop()
        entries, self._entries = self._entries, []
        self._places.clear()
        self.pods.lists.forget()
        return entries

    def adopt(self, stored: Stored, at: int, past: PastOfPod | None = None) -> None:
        """An object that was there before the first step is known from the rows alone, as no operation made it.

        A pod counts as created, and bound, in this step, unless an earlier process published its `past`.
        """
        self.unshown.snapshot_objects += 1
        if past is None or not self.rows.has_earlier:
            self._row(Change("ADDED", stored, None, SNAPSHOT, at), "", None, None)
        if stored.kind.group_kind == POD:
            history = self.pods.adopt(stored, self.major, self.minor)
            if past is not None:
                past.restore(history)

    def _follow(self, change: Change) -> PodHistory:
        history = self.pods.follow(change, self.major, self.minor)
        if not history.finished and has_ended(change.stored):
            self.unshown.note_finished(change.stored, self.major, len(self._entries))
            history.finished = True
        return history

    def _bound(self, change: Change, history: PodHistory, id: str, operation: bytes) -> None:
        if self.shape.minor_steps:
            self._add(id, "Patch", *operated(operation, change.stored.data))
            id = self._next_id()
        self._show(id, "PodScheduled", history, change.stored.data)

    def _preempted(self, change: Change, history: PodHistory, id: str, operation: bytes) -> None:
        history.preempt(self.major, self.minor)
        self.pods.preempted += 1
        if self.shape.minor_steps:
            self._add(id, "Delete", *operated(operation))
            id = self._next_id()
        self._show(id, "PodPreempted", history, change.stored.data)

    def _show(self, id: str, operation: str, history: PodHistory, pod: bytes) -> None:
        """Add an entry that shows a pod with all its attempts, the one that is being carried out included."""
        key, decision = history.key, self._deciding
        if decision is not None and decision.pod == key:
            self._add_attempt(history, self._attempt(decision, len(decision.visited)))
            self._deciding, self._shown = None, decision.pod
        if self.keeps_places:
            self._places[key] = history, len(self._entries), id, operation, pod, self.minor
        self._add(id, operation, *self._result(history, pod))

    def _add_attempt(self, history: PodHistory, attempt: Tried) -> None:
        history.add_attempt(attempt, self.pods.lists)
        self.unshown.attempts += attempt.number

    def _result(self, history: PodHistory, pod: bytes) -> tuple[bytes, ...]:
        """The body of an entry that shows a pod; it lists all attempts up to now, those of earlier steps in short."""
        if history.shown_in != self.major and not self.full_repeat:
            history.shorten(self.pods.lists)
        attempts = history.listed.number
        self.unshown.attempts -= attempts - history.shown
        history.shown, history.shown_in = attempts, self.major
        return history.result(pod, self.shape)

    def _note_preemptor(self, decision: Decision) -> None:
        for victim in decision.preemption.victims if decision.preemption is not None else ():
            if history := self.pods.note_preemptor(victim, decision.pod):
                self._encode_again(history)

    def _add(self, id: str, operation: str, *body: bytes) -> None:
        self.operations += 1
        self._entries.append(self.shape.entry(id, self.major, self.minor, operation, *body))

    def _next_id(self) -> str:
        while self._is_taken(id := f"timeline-{next(self._numbers)}"):
            pass
        return id

    def _attempt(self, decision: Decision, cells: int) -> Tried:
        step = self.shape.step(self.major, self.minor)
        if self.level != "full" or cells > self._wire_cells:
            # After the first attempt that does not fit no other is added, so that the limit is the same in every run.
            self._wire_cells = -1
            self.attempts_without_cells += 1
            self.unshown.attempts_without_nodes += 1
            return tried_in(step)
        self._wire_cells -= cells
        if not cells and (decision.feasible_count or decision.rejected_count or reasons_in(decision.message)):
            self.unshown.attempts_without_nodes += 1
        visited, feasible = list(decision.visited), list(decision.feasible)
        return Tried(step, attempt(step, encode(visited), encode(feasible), plugin_results(decision)))

    def _operation_of(self, change: Change, verb: Verb, history: PodHistory | None) -> bytes | None:
        """What a controller or the scheduler did, as an operation; None where nothing that counts was changed."""
        stored = change.stored
        types, name = _types(stored.kind), encode(stored.name)
        meta = b'%b,"namespace":%b' % (name, encode(stored.namespace)) if stored.namespace else name
        if verb == "create":
            return b'{"object":{%b,"metadata":{"name":%b}}}' % (types, meta)
        if history is not None and change.subresource == "binding":
            ending = _binding(history.bound_to)
        else:
            ending = b"}" if verb == "delete" else self._patch_of(change)
        return b'{"typeMeta":{%b},"objectMeta":{"name":%b}%b' % (types, meta, ending) if ending else None

    def _patch_of(self, change: Change) -> bytes:
        """The end of the patch operation of a write; it is the same for all objects that were and are of one shape."""
        assert change.previous is not None
        old, new = change.previous.shape, change.stored.shape
        if old is None or new is None or change.previous.node_name != change.stored.node_name:
            return _merge_patch(change.previous, change.stored)
        patch = self._patches.get((old, new))
        if patch is None:
            patch = self._patches[old, new] = _merge_patch(change.previous, change.stored)
        return patch

    def _row(self, change: Change, verb: Verb, id: str | None, operation: bytes | None) -> None:
        stored = change.stored
        kind = stored.kind
        self.rows.add(
            (
                self.major, self.minor, change.at, change.writer,
                verb or ("status" if change.subresource == "status" else "write"), id, kind.api_version, kind.kind,
                stored.namespace, stored.name, stored.revision, change.subresource, operation,
                None if change.type == "DELETED" else stored.data, None,
            )
        )  # fmt: skip

    def _plain_row(self, id: str, entry: str, operation: bytes | None, stored: Stored | None, at: int | None) -> None:
        kind = stored.kind if stored is not None else None
        self.rows.add(
            (
                self.major, self.minor, at, operation_writer(id) if operation is not None else SCHEDULER, entry, id,
                kind.api_version if kind else None, kind.kind if kind else None,
                stored.namespace if stored else None, stored.name if stored else None, None, None, operation,
                stored.data if stored else None, None,
            )
        )  # fmt: skip

    def note(self, types: tuple[str, str], namespace: str, name: str, data: bytes, at: int) -> None:
        """Record what a session of Volcano says about an object; `types` are its apiVersion and kind."""
        self.rows.add(
            (
                self.major, self.minor, at, VOLCANO, "session", None, *types, namespace, name, None, None, None,
                data, None,
            )
        )  # fmt: skip

    def _attempt_row(self, decision: Decision, cells: int) -> None:
        has_cells = self.level == "full" and cells <= self._table_cells
        if has_cells:
            self._table_cells -= cells
        origin = decision.like or decision
        known = self._latest_attempt
        if known is None or known[0] is not origin or known[1] != has_cells:
            columns = self.dictionary.cells(origin) if has_cells else NO_CELLS
            known = self._latest_attempt = origin, has_cells, self._columns(origin, columns), bytes_of(columns)
        namespace, _, name = decision.pod.partition("/")
        self.rows.add(
            (
                self.major, self.minor, decision.at, SCHEDULER, "attempt", None, "v1", "Pod", namespace, name,
                None, None, None, None, decision.attempt,
            ),
            known[2],
            weight=known[3],
        )  # fmt: skip

    def _columns(self, decision: Decision, cells: tuple[object, ...]) -> Row:
        """The columns that attempts alone have; one that is repeated for another pod shares them."""
        preemption = decision.preemption
        reasons = list(decision.reasons().items()) if decision.visited else reasons_in(decision.message)
        return (
            decision.outcome, decision.node or None, decision.nominated_node or None,
            decision.message or None, decision.profile,
            len(decision.visited) or decision.feasible_count + decision.rejected_count,
            decision.feasible_count, decision.rejected_count, reasons, decision.best(),
            list(preemption.victims) if preemption else None,
            self.dictionary.details(decision) if self.level == "full" else None, *cells,
        )  # fmt: skip


def _types(kind: Kind) -> bytes:
    """The encoded apiVersion and kind."""
    return encode({"apiVersion": kind.api_version, "kind": kind.kind})[1:-1]


def _binding(node: str | None) -> bytes:
    return _patching({"spec": {"nodeName": node}}, "application/strategic-merge-patch+json")


def _merge_patch(previous: Stored, stored: Stored) -> bytes:
    patch = merge_diff(previous.document(), stored.document())
    return _patching(patch, "application/merge-patch+json") if patch else b""


def _patching(patch: Document, media: str) -> bytes:
    """The end of a patch operation, after its target."""
    return b"," + encode({"patch": encode(patch).decode(), "patchType": media})[1:]
