"""DaemonSet: one pod on every eligible node.

Upstream: pkg/controller/daemon (v1.36). Pods are made for a node by an affinity to its name; the scheduler binds them.
"""

from collections.abc import Mapping
from typing import ClassVar

from seatrial.controllers.daemonset.node_pods import GENERATION, REVISION, Fleet
from seatrial.controllers.daemonset.placement import Placement, read_node, spec_for_node, target_of
from seatrial.controllers.framework.controller import Context, Key, Listener
from seatrial.controllers.framework.controller_revision import History
from seatrial.controllers.framework.int_or_string import scaled
from seatrial.controllers.framework.pod_control import PodOwner, pod_from_template, set_status
from seatrial.controllers.framework.pod_row import PodRow, matters
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND
from seatrial.store import Change, Stored

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


class DaemonSet(PodOwner):
    """Keeps one pod on each eligible node."""

    name: ClassVar[str] = "daemonset"
    component: ClassVar[str] = "daemonset-controller"
    owner: ClassVar[tuple[str, str]] = ("apps/v1", "DaemonSet")
    follows_placement: ClassVar[bool] = True

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._nodes = context.kind("v1", "Node")
        self._history = History(context, self.kind, self.name, REVISION)
        self._fleets: dict[str, Fleet] = {}

    def watches(self) -> Mapping[Kind, Listener]:
        return dict(super().watches()) | {self._nodes: self._node_changed}

    def start(self) -> None:
        self._history.start()
        super().start()

    def stop(self) -> None:
        super().stop()
        self._history.stop()
        self._fleets.clear()

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            return
        owner = stored.document()
        self.claim(owner)
        revisions = self._history.of(owner)
        current = self._history.current(owner, revisions)
        fleet = self._fleet(owner, current["metadata"]["labels"][REVISION])
        if fleet.min_ready:
            fleet.changed.update(dict.fromkeys(fleet.waiting()))
        touched = list(fleet.changed)
        fleet.changed.clear()
        if "deletionTimestamp" not in owner["metadata"]:
            for node in touched:
                self._manage(owner, fleet, node)
            if owner["spec"].get("updateStrategy", {}).get("type", "RollingUpdate") == "RollingUpdate":
                self._roll(owner, fleet)
            self._forget(owner, fleet, current, revisions)
        for node in dict.fromkeys([*touched, *fleet.changed]):
            fleet.count(node, self.clock.now())
        self._write_status(stored, owner, fleet)

    # One node.

    def _manage(self, owner: Document, fleet: Fleet, node: str) -> None:
        rows = fleet.rows(node)
        if node not in fleet.wishes:
            surplus = [row for row in rows if not row.node]
        elif fleet.wish(node).should_run and not rows:
            self._create(owner, fleet, node)
            return
        elif not fleet.wish(node).may_stay:
            surplus = rows
        else:
            surplus = self._surplus(owner, fleet, [row for row in rows if not row.is_deleting])
        for row in surplus:
            if not row.is_deleting:
                self.delete_pod(row)

    def _surplus(self, owner: Document, fleet: Fleet, rows: list[PodRow]) -> list[PodRow]:
        """Pods that are over, and all but the oldest; with surge all but the oldest old and the oldest new one."""
        over = [row for row in rows if row.phase in ("Failed", "Succeeded")]
        running = [row for row in rows if row not in over]
        if len(running) < 2:
            return over
        if not _surge(owner, 1):
            return over + running[1:]
        new = next((row for row in running if fleet.is_updated(row)), None)
        old = next((row for row in running if not fleet.is_updated(row)), None)
        over += [row for row in running if row is not new and row is not old]
        if new is not None and old is not None:
            now = self.clock.now()
            if not old.is_ready or (new.is_ready and fleet.is_available(new, now)):
                over.append(old)
        return over

    def _create(self, owner: Document, fleet: Fleet, node: str) -> None:
        pod = pod_from_template(owner["spec"]["template"], self.kind, owner)
        labels = pod["metadata"].get("labels", {}) | {REVISION: fleet.hash}
        if fleet.template_generation is not None:
            labels[GENERATION] = fleet.template_generation
        pod["metadata"]["labels"] = labels
        pod["spec"] = spec_for_node(pod["spec"], node)
        self.create_pod(pod, owner["metadata"]["namespace"])

    # Rolling update.

    def _roll(self, owner: Document, fleet: Fleet) -> None:
        labels = self.context.pods.owned_by(owner["metadata"]["uid"]).labels
        if all(dict(found).get(REVISION) == fleet.hash for found in labels):
            return
        desired = sum(wish.should_run for wish in fleet.wishes.values())
        surge = _surge(owner, desired)
        if surge:
            self._replace_by_surge(owner, fleet, surge)
            return
        rolling = owner["spec"].get("updateStrategy", {}).get("rollingUpdate") or {}
        self._replace_in_place(fleet, scaled(rolling.get("maxUnavailable", 1), desired, up=True) or 1)

    def _replace_in_place(self, fleet: Fleet, most: int) -> None:
        now, unavailable = self.clock.now(), 0
        at_once: list[PodRow] = []
        candidates: list[PodRow] = []
        for pair in fleet.updates().values():
            new, old = pair or (None, None)
            if (new is None) == (old is None):
                unavailable += 1
            elif new is not None:
                unavailable += not fleet.is_available(new, now)
            elif old is not None:
                (candidates if fleet.is_available(old, now) else at_once).append(old)
        for row in at_once + candidates[: max(0, most - unavailable)]:
            self.delete_pod(row)

    def _replace_by_surge(self, owner: Document, fleet: Fleet, surge: int) -> None:
        now, surging = self.clock.now(), 0
        at_once: list[str] = []
        candidates: list[str] = []
        for node, pair in fleet.updates().items():
            new, old = pair or (None, None)
            if pair is None:
                surging += 1
            elif old is None:
                continue
            elif new is None:
                (candidates if fleet.is_available(old, now) else at_once).append(node)
            elif fleet.is_available(new, now):
                self.delete_pod(old)
            else:
                surging += 1
        for node in at_once + candidates[: max(0, surge - surging)]:
            if fleet.wish(node).should_run:
                self._create(owner, fleet, node)

    def _forget(self, owner: Document, fleet: Fleet, current: Document, revisions: list[Document]) -> None:
        limit = owner["spec"].get("revisionHistoryLimit", 10)
        if len(revisions) > limit:
            used = {row.labels.get(REVISION) for row in self.rows(owner)} | {fleet.hash}
            live = {r["metadata"]["name"] for r in revisions if r["metadata"]["labels"].get(REVISION) in used}
            self._history.forget(owner, revisions, live | {current["metadata"]["name"]})

    # The pods by node.

    def _fleet(self, owner: Document, hashed: str) -> Fleet:
        meta = owner["metadata"]
        fleet = self._fleets.get(meta["uid"])
        if fleet is not None and (fleet.generation, fleet.hash) == (meta.get("generation", 0), hashed):
            return fleet
        template_generation = meta.get("annotations", {}).get(TEMPLATE_GENERATION)
        min_ready = owner["spec"].get("minReadySeconds", 0) * SECOND
        placement = Placement(owner["spec"]["template"]["spec"])
        fleet = Fleet(meta.get("generation", 0), placement, hashed, template_generation, min_ready)
        for stored in self.store.list(self._nodes):
            fleet.set_wish(stored.name, placement.wish(read_node(stored)))
        for row in self.rows(owner):
            fleet.put(row.name, row, self._node_of(row, fleet))
        self._fleets[meta["uid"]] = fleet
        return fleet

    def _node_of(self, row: PodRow, fleet: Fleet) -> str:
        known = row.node or fleet.places.get(row.name)
        if known:
            return known
        stored = self.store.find(self.pods, row.name, row.namespace)
        return target_of(stored.document()) if stored is not None else ""

    # Status.

    def _write_status(self, stored: Stored, owner: Document, fleet: Fleet) -> None:
        total = fleet.total
        status: Document = {
            "currentNumberScheduled": total.current,
            "numberMisscheduled": total.misscheduled,
            "desiredNumberScheduled": total.desired,
            "numberReady": total.ready,
            "observedGeneration": owner["metadata"].get("generation", 0),
        }
        optional = {
            "updatedNumberScheduled": total.updated,
            "numberAvailable": total.available,
            "numberUnavailable": total.desired - total.available,
        }
        status |= {field: count for field, count in optional.items() if count}
        if owner.get("status", {}).get("collisionCount") is not None:
            status["collisionCount"] = owner["status"]["collisionCount"]
        set_status(self.context, stored, status, self.name)
        if fleet.min_ready and fleet.waiting():
            self.enqueue_after((stored.namespace, stored.name), fleet.min_ready)

    # Event handlers.

    def _owner_changed(self, change: Change) -> None:
        super()._owner_changed(change)
        if change.type == "DELETED":
            self._fleets.pop(change.stored.document()["metadata"]["uid"], None)

    def _node_changed(self, change: Change) -> None:
        if not self._fleets:
            return
        node = read_node(change.stored)
        for stored in self.store.list(self.kind):
            fleet = self._fleets.get(stored.document()["metadata"]["uid"])
            if fleet is None:
                continue
            fleet.set_wish(change.stored.name, None if change.type == "DELETED" else fleet.placement.wish(node))
            if fleet.changed:
                self.enqueue((stored.namespace, stored.name))

    def _pod_changed(self, old: PodRow | None, new: PodRow | None) -> None:
        if self._fleets:
            self._follow(old, new)
        if old is None or new is None or matters(old, new):
            super()._pod_changed(old, new)

    def _follow(self, old: PodRow | None, new: PodRow | None) -> None:
        for row in (old, new):
            fleet = self._fleets.get(row.owner.uid) if row is not None and row.owner is not None else None
            if row is None or fleet is None:
                continue
            if new is not None and new.owner == row.owner:
                fleet.put(row.name, new, self._node_of(new, fleet))
            else:
                fleet.take_out(row.name)


def _surge(owner: Document, desired: int) -> int:
    rolling = owner["spec"].get("updateStrategy", {}).get("rollingUpdate") or {}
    return scaled(rolling.get("maxSurge", 0), desired, up=True)
