"""Records in the timeline what an outside scheduler decides: attempts, preemptors, and its own explanations."""

import time

import msgspec

from seatrial.model.errors import StatusError
from seatrial.outside.explanations import attempt_of
from seatrial.outside.model_check import ModelCheck
from seatrial.outside.pods import Key, PendingPods, PodView, is_unschedulable, without_verdict
from seatrial.outside.requests import PODS, in_virtual_time
from seatrial.outside.session import Session
from seatrial.outside.watches import NODES
from seatrial.server import Target
from seatrial.server.handlers import BINDING, request_bodies
from seatrial.server.messages import Request
from seatrial.store import Change, Store
from seatrial.timeline import Timeline

EXPLAINS_WITHIN, MAY_EXPLAIN_WITHIN = 1.0, 0.05
"""Seconds in which result annotations follow a bind; fewer while none have been seen from the scheduler."""
ON_ITS_WAY = 0.02
"""Seconds that a change needs to reach a scheduler and a decision to reach the gate."""


class Scheduling:
    """Follows one scheduler's requests for pods."""

    def __init__(
        self, store: Store, timeline: Timeline, session: Session, pods: PendingPods, model: ModelCheck | None
    ) -> None:
        self._store, self._timeline, self._session = store, timeline, session
        self._pods, self._model = pods, model
        self._is_sweeping = False
        self._changed_at = self._bound_at = 0.0
        self._explains = False
        self._unexplained: set[Key] = set()
        """Pods that were bound and for which no result annotations have come yet."""
        self._released: dict[Key, float] = {}
        self.decision_seconds: list[float] = []
        """Real time from the release of each pod to the arrival of the verdict on it."""
        timeline.keeps_places = True
        if model is not None:
            model.start()

    def close(self) -> None:
        if self._model is not None:
            self._model.stop()

    def released(self) -> None:
        """The gate is open: the pods without a verdict are with the scheduler."""
        now = time.monotonic()
        for key in self._pods.untried:
            self._released.setdefault(key, now)

    def sweep(self) -> None:
        """Have every pending pod tried again."""
        self._pods.sweep()
        self._is_sweeping = True
        self.resend()

    def resend(self) -> None:
        """Send the pods without a verdict again, in the expected order, as ones that were never tried."""
        for namespace, name in [key for key in self._pods if key in self._pods.untried]:
            stored = self._store.find(self._pods.kind, name, namespace)
            if stored is not None:
                self._session.watches.resend(stored, without_verdict(stored))

    def passing(self, request: Request, target: Target, arrived: float) -> None:
        """A write that arrived at the gate some time ago is about to be carried out."""
        if target.kind.group_kind != PODS or not target.name:
            return
        in_virtual_time(request, self._store.clock.now())
        key = target.namespace, target.name
        if target.subresource in ("binding", "status") and (since := self._released.pop(key, None)) is not None:
            self.decision_seconds.append(max(0.0, arrived - since))
        if target.subresource == "binding":
            self._is_sweeping = False
            self._bind(request, key, arrived)
        elif request.method == "DELETE" or target.subresource == "eviction":
            self._is_sweeping = False
            self._preempt(key)

    def explaining(self) -> float | None:
        """Seconds for which a scheduler may still explain its latest binds; None: it has, or it does not explain."""
        if not self._unexplained:
            return None
        left = self._bound_at + (EXPLAINS_WITHIN if self._explains else MAY_EXPLAIN_WITHIN) - time.monotonic()
        if left > 0:
            return left
        self._unexplained.clear()
        return None

    def took(self, key: Key) -> bool:
        """A scheduler that cooperates takes a pod; whether that was due."""
        is_due = self._pods.judged(key)
        self._unscheduled(key)
        return is_due

    def left(self, target: Target) -> bool:
        """A write was carried out; whether it brought a verdict that was due."""
        if target.kind.group_kind != PODS or not target.name:
            return False
        key = target.namespace, target.name
        stored = self._store.find(self._pods.kind, target.name, target.namespace)
        if stored is None:
            return False
        if not target.subresource:
            explained = attempt_of(stored, self._timeline.shape.step(self._timeline.major, self._timeline.minor))
            if explained is not None and self._model is None:
                self._explains = True
                self._unexplained.discard(key)
                self._timeline.note_attempt("/".join(key), explained)
            return False
        if target.subresource != "status" or key not in self._pods or not is_unschedulable(stored):
            return False
        is_due = self._pods.judged(key)
        if is_due:
            self._unscheduled(key)
        return is_due

    def note(self, change: Change) -> None:
        """A write of another writer: pods that come and go, and nodes, change what a scheduler decides."""
        kind = change.stored.kind.group_kind
        if kind == NODES or (kind == PODS and change.type != "MODIFIED"):
            self._changed_at = time.monotonic()

    def _bind(self, request: Request, key: Key, arrived: float) -> None:
        try:
            node = (request_bodies.read_object(request, BINDING).get("target") or {}).get("name") or ""
        except StatusError:
            # The request is refused for the same reason when it is carried out.
            return
        if self._model is not None:
            self._model.bound(key, node, is_earlier=self._changed_at > arrived - ON_ITS_WAY)
        else:
            self._timeline.note_attempt("/".join(key))
            self._unexplained.add(key)
            self._bound_at = time.monotonic()

    def _unscheduled(self, key: Key) -> None:
        if self._model is not None:
            self._model.unschedulable(key, is_final=self._is_sweeping)
        else:
            self._timeline.note_attempt("/".join(key))

    def _preempt(self, key: Key) -> None:
        stored = self._store.find(self._pods.kind, key[1], key[0])
        if stored is None:
            return
        victim = msgspec.json.decode(stored.data, type=PodView)
        preemptor = self._pods.preemptor_on(victim.spec.node_name or "", victim.spec.priority)
        if preemptor is not None:
            self._timeline.pods.note_preemptor("/".join(key), "/".join(preemptor))
            self._pods.reopen(preemptor)
