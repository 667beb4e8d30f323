"""Deployment: one ReplicaSet for each pod template, and the rollout from the old ones to the new.

Upstream: pkg/controller/deployment (v1.36). Each sync reads the ReplicaSets, makes one step and writes the
status; the changes that follow from the step enqueue the Deployment again.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.deployment import rollout
from seatrial.controllers.deployment.replicasets import ReplicaSets, age, split
from seatrial.controllers.framework.conditions import find_condition, new_condition, set_condition
from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.controllers.framework.pod_control import controller_of
from seatrial.controllers.framework.pod_row import PodRow
from seatrial.controllers.framework.selectors import SelectorIndex
from seatrial.model.documents import Document
from seatrial.model.errors import AlreadyExists, StatusError
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import LabelSelector
from seatrial.model.times import SECOND, parse_time
from seatrial.store import Change, Stored, shared_document
from seatrial.store.registry import write_status


class Deployment(QueueController):
    """Rolls templates out."""

    name: ClassVar[str] = "deployment"
    component: ClassVar[str] = "deployment-controller"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("apps/v1", "Deployment")
        self._sets = ReplicaSets(self.store, context.kind("apps/v1", "ReplicaSet"), self.kind, self.name, self._tell)
        self._selectors = SelectorIndex(self.store, self.kind, _selector)

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._changed, self._sets.kind: self._replica_set_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def start(self) -> None:
        self._sets.start()
        self._selectors.start()
        super().start()
        self._unsubscribe.append(self.context.pods.listen(self._pod_changed, placement=False, needed=()))

    def stop(self) -> None:
        super().stop()
        self._sets.stop()
        self._selectors.stop()

    def sync(self, key: Key) -> None:
        stored, selector = self.store.find(self.kind, key[1], key[0]), self._selectors.get(*key)
        if stored is None or selector is None:
            return
        deployment = shared_document(stored)
        if not any(deployment["spec"]["selector"].values()):
            return
        newest, old = split(deployment, self._sets.claim(deployment, selector))
        if "deletionTimestamp" in deployment["metadata"]:
            self._write_status(deployment)
            return
        self._note_pause(deployment)
        if newest is not None:
            newest = self._renew(deployment, newest, old)
        if deployment["spec"].get("paused") or self._is_resized(deployment, newest, old):
            self._scale_all(deployment, newest, old)
            if deployment["spec"].get("paused"):
                self._sets.forget_oldest(deployment, old)
            self._write_status(deployment)
        elif rollout.is_rolling(deployment):
            self._roll(deployment, newest, old)
        else:
            self._recreate(deployment, newest, old)

    # The two rollout strategies.

    def _roll(self, deployment: Document, newest: Document | None, old: list[Document]) -> None:
        if newest is None:
            newest = self._create_newest(deployment, old)
        if not self._grow_newest(deployment, newest, old) and not self._shrink_old(deployment, newest, old):
            self._forget_oldest(deployment, old)
        self._write_status(deployment, rolling=True)

    def _recreate(self, deployment: Document, newest: Document | None, old: list[Document]) -> None:
        running = [replica_set for replica_set in old if rollout.replicas(replica_set) > 0]
        for replica_set in running:
            self._sets.resize(replica_set, 0, deployment)
        if not running and not self._has_old_pods(old):
            if newest is None:
                newest = self._create_newest(deployment, old)
            self._sets.resize(newest, rollout.replicas(deployment), deployment)
            self._forget_oldest(deployment, old)
        self._write_status(deployment, rolling=True)

    def _grow_newest(self, deployment: Document, newest: Document, old: list[Document]) -> bool:
        have, wanted = rollout.replicas(newest), rollout.replicas(deployment)
        if have >= wanted:
            return have > wanted and self._sets.resize(newest, wanted, deployment)
        return self._sets.resize(newest, rollout.new_size(deployment, [*old, newest], have), deployment)

    def _shrink_old(self, deployment: Document, newest: Document, old: list[Document]) -> bool:
        active = sorted((rs for rs in old if rollout.replicas(rs) > 0), key=age)
        sizes = rollout.shrunk(deployment, newest, active, rollout.size_of([*old, newest])) if active else {}
        resized = [self._sets.resize(rs, sizes.get(rs["metadata"]["name"], 0), deployment) for rs in active if sizes]
        return any(resized)

    def _has_old_pods(self, old: list[Document]) -> bool:
        pods = (self.context.pods.owned_by(rs["metadata"]["uid"]).rows.values() for rs in old)
        return any(row.phase not in ("Succeeded", "Failed") for rows in pods for row in rows)

    def _forget_oldest(self, deployment: Document, old: list[Document]) -> None:
        if old and rollout.is_complete(deployment, deployment.get("status", {})):
            self._sets.forget_oldest(deployment, old)

    def _tell(self, deployment: Document, text: str) -> None:
        self.record(self.kind, deployment, "ScalingReplicaSet", text)

    # Sizes.

    def _is_resized(self, deployment: Document, newest: Document | None, old: list[Document]) -> bool:
        wanted = str(rollout.replicas(deployment))
        for replica_set in [*old, *([newest] if newest else [])]:
            desired = replica_set["metadata"].get("annotations", {}).get(rollout.DESIRED_REPLICAS)
            if rollout.replicas(replica_set) > 0 and desired not in (None, wanted):
                return True
        return False

    def _scale_all(self, deployment: Document, newest: Document | None, old: list[Document]) -> None:
        everything = [*sorted(old, key=age, reverse=True), *([newest] if newest else [])]
        active = [replica_set for replica_set in everything if rollout.replicas(replica_set) > 0]
        if not everything:
            return
        if len(active) < 2:
            only = active[0] if active else newest or everything[0]
            self._sets.resize(only, rollout.replicas(deployment), deployment)
        elif rollout.is_saturated(deployment, newest):
            for replica_set in active:
                if replica_set is not newest:
                    self._sets.resize(replica_set, 0, deployment)
        elif rollout.is_rolling(deployment):
            for name, size in rollout.proportions(deployment, active).items():
                found = next(rs for rs in active if rs["metadata"]["name"] == name)
                self._sets.resize(found, size, deployment, always=True)

    # The ReplicaSet of the current template.

    def _renew(self, deployment: Document, newest: Document, old: list[Document]) -> Document:
        renewed = self._sets.renew(deployment, newest, old)
        text = f'Found new replica set "{renewed["metadata"]["name"]}"'
        known = find_condition(deployment.get("status", {}), "Progressing")
        self._note_newest(deployment, renewed, "FoundNewReplicaSet" if known is None else "", text)
        return renewed

    def _create_newest(self, deployment: Document, old: list[Document]) -> Document:
        name = self._sets.name_for(deployment)
        try:
            created = self._sets.create(deployment, old)
        except AlreadyExists:
            self._note_collision(deployment)
            raise
        except StatusError as refusal:
            text = f'Failed to create new replica set "{name}": {refusal.message}'
            failed = new_condition("Progressing", False, "ReplicaSetCreateError", text, self.clock.now())
            if rollout.deadline(deployment) is not None:
                self._modify_status(deployment, lambda status: set_condition(status, failed))
            self.record(self.kind, deployment, "ReplicaSetCreateError", text, "Warning")
            raise
        self._note_newest(deployment, created, "NewReplicaSetCreated", f'Created new replica set "{name}"')
        return created

    # Status.

    def _write_status(self, deployment: Document, *, rolling: bool = False) -> None:
        meta = deployment["metadata"]
        stored = self.store.find(self.kind, meta["name"], meta["namespace"])
        if stored is None:
            return
        deployment, now = shared_document(stored), self.clock.now()
        newest, old = split(deployment, self._sets.owned_by(meta["uid"]))
        everything = [*old, *([newest] if newest else [])]
        status = rollout.count_status(deployment, everything, newest, now)
        if rolling:
            rollout.judge_progress(deployment, status, newest, now)
            rollout.carry_failure(status, everything, newest)
            self._look_again_at_deadline(deployment, status)
        written = write_status(self.store, stored, status, self.name)
        if written is not stored and rollout.is_complete(deployment, status):
            self.enqueue((meta["namespace"], meta["name"]))

    def _look_again_at_deadline(self, deployment: Document, status: Document) -> None:
        seconds, progressing = rollout.deadline(deployment), find_condition(status, "Progressing")
        if seconds is None or progressing is None or rollout.is_complete(deployment, status):
            return
        if progressing["reason"] not in ("ProgressDeadlineExceeded", "NewReplicaSetAvailable"):
            due = parse_time(progressing["lastUpdateTime"]) + (seconds + 1) * SECOND
            key = deployment["metadata"]["namespace"], deployment["metadata"]["name"]
            self.enqueue_after(key, due - self.clock.now())

    def _note_pause(self, deployment: Document) -> None:
        """Record a pause or a resumption, which restarts the progress deadline."""
        current = find_condition(deployment.get("status", {}), "Progressing")
        if rollout.deadline(deployment) is None or (current and current["reason"] == "ProgressDeadlineExceeded"):
            return
        is_paused = bool(deployment["spec"].get("paused"))
        if is_paused == bool(current and current["reason"] == "DeploymentPaused"):
            return
        word = "paused" if is_paused else "resumed"
        reason, text = f"Deployment{word.capitalize()}", f"Deployment is {word}"
        condition = new_condition("Progressing", True, reason, text, self.clock.now()) | {"status": "Unknown"}
        self._modify_status(deployment, lambda status: set_condition(status, condition))

    def _note_newest(self, deployment: Document, newest: Document, reason: str, text: str) -> None:
        """Copy the revision to the Deployment and, with a reason, say that there is a ReplicaSet to wait for."""
        revision = newest["metadata"].get("annotations", {}).get(rollout.REVISION)
        is_told = bool(reason) and rollout.deadline(deployment) is not None
        if deployment["metadata"].get("annotations", {}).get(rollout.REVISION) == revision and not is_told:
            return

        def change(document: Document) -> None:
            if revision is not None:
                document["metadata"].setdefault("annotations", {})[rollout.REVISION] = revision
            if is_told:
                condition = new_condition("Progressing", True, reason, text, self.clock.now())
                set_condition(document.setdefault("status", {}), condition)

        self._modify(deployment, change)

    def _note_collision(self, deployment: Document) -> None:
        count = deployment.get("status", {}).get("collisionCount", 0) + 1
        self._modify_status(deployment, lambda status: status.update(collisionCount=count))
        self.enqueue((deployment["metadata"]["namespace"], deployment["metadata"]["name"]))

    def _modify_status(self, deployment: Document, change: Callable[[Document], object]) -> None:
        def changed(document: Document) -> None:
            change(document.setdefault("status", {}))

        self._modify(deployment, changed)

    def _modify(self, deployment: Document, change: Callable[[Document], None]) -> None:
        meta = deployment["metadata"]
        self.store.modify(
            self.kind, meta["name"], change, namespace=meta["namespace"], subresource="status", writer=self.name
        )

    # Event handlers.

    def _changed(self, change: Change) -> None:
        self._selectors.changed(change)
        if change.subresource != "status" or change.writer != self.name:
            self.enqueue((change.stored.namespace, change.stored.name))

    def _replica_set_changed(self, change: Change) -> None:
        for version in self._sets.changed(change):
            owner = controller_of(version) if version is not None else None
            if owner is not None and owner["kind"] == self.kind.kind:
                self.enqueue((change.stored.namespace, owner["name"]))
            elif version is not None and owner is None and change.type != "DELETED":
                self._enqueue_adopters(change.stored, version)

    def _enqueue_adopters(self, stored: Stored, orphan: Document) -> None:
        for name in self._selectors.matching(stored.namespace, orphan["metadata"].get("labels", {})):
            self.enqueue((stored.namespace, name))

    def _pod_changed(self, old: PodRow | None, new: PodRow | None) -> None:
        """A Recreate rollout waits for the last old pod."""
        if new is not None or old is None or old.owner is None or old.owner.kind != self._sets.kind.kind:
            return
        replica_set = self._sets.find(old.namespace, old.owner.name)
        parent = controller_of(replica_set) if replica_set is not None else None
        if parent is not None and parent["kind"] == self.kind.kind:
            self.enqueue((old.namespace, parent["name"]))


def _selector(document: Document) -> LabelSelector:
    return LabelSelector.from_document(document["spec"]["selector"])
