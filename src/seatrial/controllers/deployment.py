"""Deployment: a ReplicaSet for each pod template, and an orderly way from the old ones to the new.

Upstream: pkg/controller/deployment (v1.36). Each sync looks at the ReplicaSets as they are, moves one step and writes
the status; what the step causes brings the Deployment back into the queue. The template hash is ours (of the encoded
template), since upstream's is a hash of Go's memory.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from seatrial.controllers import rollout
from seatrial.controllers.conditions import find_condition, new_condition, set_condition
from seatrial.controllers.controller import Context, Key, Listener, QueueController
from seatrial.controllers.owning import controller_of, controller_reference
from seatrial.model.documents import Document, encode
from seatrial.model.errors import AlreadyExists, NotFound, StatusError
from seatrial.model.kinds import Kind
from seatrial.model.labels import LabelSelector
from seatrial.model.times import SECOND, parse_time
from seatrial.store.objects import Change, Stored

TEMPLATE_HASH = "pod-template-hash"
NOT_COPIED = {
    "kubectl.kubernetes.io/last-applied-configuration",
    rollout.REVISION,
    rollout.REVISION_HISTORY,
    rollout.DESIRED_REPLICAS,
    rollout.MAX_REPLICAS,
    "deprecated.deployment.rollback.to",
}
SAFE = "bcdfghjklmnpqrstvwxz2456789"
"""Letters and digits that make no words."""


def template_hash(template: Document, collisions: int | None) -> str:
    """A short name for a template: FNV-1a over its encoded form, in safe letters."""
    value = 2166136261
    for byte in encode(template) + (b"" if collisions is None else collisions.to_bytes(8, "little")):
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return "".join(SAFE[ord(digit) % len(SAFE)] for digit in str(value))


def same_template(first: Document, second: Document) -> bool:
    """Equal but for the hash label."""
    return _without_hash(first) == _without_hash(second)


def _without_hash(template: Document) -> Document:
    meta = template.get("metadata", {})
    labels = {key: value for key, value in meta.get("labels", {}).items() if key != TEMPLATE_HASH}
    return template | {
        "metadata": {key: value for key, value in meta.items() if value is not None} | {"labels": labels}
    }


def _age(replica_set: Document) -> tuple[str, str]:
    return replica_set["metadata"]["creationTimestamp"], replica_set["metadata"]["name"]


def _revision(replica_set: Document) -> int:
    text = replica_set["metadata"].get("annotations", {}).get(rollout.REVISION, "0")
    return int(text) if text.isdigit() else 0


class Deployment(QueueController):
    """Rolls templates out."""

    name: ClassVar[str] = "deployment"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("apps/v1", "Deployment")
        self._sets = context.kind("apps/v1", "ReplicaSet")

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self.enqueue_changed, self._sets: self._replica_set_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def start(self) -> None:
        super().start()
        self._unsubscribe.append(self.context.pods.listen(lambda old, new: self._pod_gone(old) if not new else None))

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            return
        deployment = stored.document()
        if not any(deployment["spec"]["selector"].values()):
            return
        owned = self._claim(deployment)
        if "deletionTimestamp" in deployment["metadata"]:
            self._write_plain_status(stored, deployment, *self._split(deployment, owned))
            return
        self._note_pause(stored, deployment)
        newest, old = self._split(deployment, owned)
        if newest is not None:
            newest = self._renew(stored, deployment, newest, old)
        if deployment["spec"].get("paused") or self._is_resized(deployment, newest, old):
            self._scale_all(deployment, newest, old)
            self._write_plain_status(stored, deployment, *self._split(deployment, self._owned(deployment)))
        elif rollout.is_rolling(deployment):
            self._roll(stored, deployment, newest, old)
        else:
            self._recreate(stored, deployment, newest, old)

    # The two ways of rolling out.

    def _roll(self, stored: Stored, deployment: Document, newest: Document | None, old: list[Document]) -> None:
        if newest is None:
            newest = self._create_newest(stored, deployment, old)
        if not self._grow_newest(deployment, newest, old) and not self._shrink_old(deployment, newest, old):
            self._forget_oldest(deployment, old)
        self._write_status(stored, deployment)

    def _recreate(self, stored: Stored, deployment: Document, newest: Document | None, old: list[Document]) -> None:
        running = [replica_set for replica_set in old if rollout.replicas(replica_set) > 0]
        for replica_set in running:
            self._resize(replica_set, 0, deployment)
        if not running and not self._has_old_pods(old):
            if newest is None:
                newest = self._create_newest(stored, deployment, old)
            self._resize(newest, rollout.replicas(deployment), deployment)
            self._forget_oldest(deployment, old)
        self._write_status(stored, deployment)

    def _grow_newest(self, deployment: Document, newest: Document, old: list[Document]) -> bool:
        have, wanted = rollout.replicas(newest), rollout.replicas(deployment)
        if have >= wanted:
            return have > wanted and self._resize(newest, wanted, deployment)
        return self._resize(newest, rollout.new_size(deployment, [*old, newest], have), deployment)

    def _shrink_old(self, deployment: Document, newest: Document, old: list[Document]) -> bool:
        active = sorted((rs for rs in old if rollout.replicas(rs) > 0), key=_age)
        if not active:
            return False
        least = rollout.replicas(deployment) - rollout.fence_posts(deployment)[1]
        not_yet = rollout.replicas(newest) - rollout.sum_of([newest], "availableReplicas")
        room = rollout.size_of([*old, newest]) - least - not_yet
        if room <= 0:
            return False
        sizes = {rs["metadata"]["name"]: rollout.replicas(rs) for rs in active}
        before = sum(sizes.values())
        for replica_set in active:
            name = replica_set["metadata"]["name"]
            unhealthy = sizes[name] - rollout.sum_of([replica_set], "availableReplicas")
            taken = min(room - (before - sum(sizes.values())), unhealthy)
            sizes[name] -= max(0, taken)
        spare = rollout.sum_of([*active, newest], "availableReplicas") - least
        for name in sizes:
            taken = min(sizes[name], max(0, spare))
            sizes[name] -= taken
            spare -= taken
        resized = [
            self._resize(replica_set, sizes[replica_set["metadata"]["name"]], deployment) for replica_set in active
        ]
        return any(resized)

    def _has_old_pods(self, old: list[Document]) -> bool:
        if rollout.sum_of(old, "replicas") > 0:
            return True
        pods = (self.context.pods.owned_by(rs["metadata"]["uid"]).rows.values() for rs in old)
        return any(row.phase not in ("Succeeded", "Failed") for rows in pods for row in rows)

    # Sizes.

    def _is_resized(self, deployment: Document, newest: Document | None, old: list[Document]) -> bool:
        for replica_set in [*old, *([newest] if newest else [])]:
            desired = replica_set["metadata"].get("annotations", {}).get(rollout.DESIRED_REPLICAS)
            if rollout.replicas(replica_set) > 0 and desired not in (None, str(rollout.replicas(deployment))):
                return True
        return False

    def _scale_all(self, deployment: Document, newest: Document | None, old: list[Document]) -> None:
        everything = [*sorted(old, key=_age, reverse=True), *([newest] if newest else [])]
        active = [replica_set for replica_set in everything if rollout.replicas(replica_set) > 0]
        if not everything:
            return
        if len(active) < 2:
            only = active[0] if active else newest or everything[0]
            self._resize(only, rollout.replicas(deployment), deployment)
        elif rollout.is_saturated(deployment, newest):
            for replica_set in active:
                if replica_set is not newest:
                    self._resize(replica_set, 0, deployment)
        elif rollout.is_rolling(deployment):
            for name, size in rollout.proportions(deployment, active).items():
                found = next(rs for rs in active if rs["metadata"]["name"] == name)
                self._resize(found, size, deployment, always=True)

    def _resize(self, replica_set: Document, size: int, deployment: Document, *, always: bool = False) -> bool:
        """Give a ReplicaSet its size and the notes about the Deployment's; True if the size changed."""
        changed = rollout.replicas(replica_set) != size
        if not changed and not always:
            return False
        notes = _replica_notes(deployment)

        def change(document: Document) -> None:
            document["spec"]["replicas"] = size
            document["metadata"].setdefault("annotations", {}).update(notes)

        self._modify_set(replica_set, change)
        return changed

    def _modify_set(self, replica_set: Document, change: Callable[[Document], None]) -> Document:
        meta = replica_set["metadata"]
        return self.store.modify(
            self._sets, meta["name"], change, namespace=meta["namespace"], writer=self.name
        ).document()

    # ReplicaSets of this Deployment.

    def _owned(self, deployment: Document) -> list[Document]:
        uid = deployment["metadata"]["uid"]
        documents = (stored.document() for stored in self.store.list(self._sets, deployment["metadata"]["namespace"]))
        return [document for document in documents if (controller_of(document) or {}).get("uid") == uid]

    def _claim(self, deployment: Document) -> list[Document]:
        """The ReplicaSets of this Deployment, after adopting orphans that match and releasing those that do not."""
        meta = deployment["metadata"]
        selector = LabelSelector.from_document(deployment["spec"]["selector"])
        if "deletionTimestamp" in meta:
            return self._owned(deployment)
        for stored in self.store.list(self._sets, meta["namespace"]):
            document = stored.document()
            owner, matches = controller_of(document), selector.matches(document["metadata"].get("labels", {}))
            if owner is None and matches and "deletionTimestamp" not in document["metadata"]:
                self._adopt(document, deployment)
            elif owner is not None and owner["uid"] == meta["uid"] and not matches:
                self._modify_set(document, lambda rs: rs["metadata"].pop("ownerReferences"))
        return self._owned(deployment)

    def _adopt(self, orphan: Document, deployment: Document) -> None:
        reference = controller_reference(self.kind, deployment)
        self._modify_set(orphan, lambda rs: rs["metadata"].setdefault("ownerReferences", []).append(reference))

    def _split(self, deployment: Document, owned: list[Document]) -> tuple[Document | None, list[Document]]:
        template = deployment["spec"]["template"]
        ordered = sorted(owned, key=_age)
        newest = next((rs for rs in ordered if same_template(rs["spec"]["template"], template)), None)
        return newest, [rs for rs in ordered if rs is not newest]

    def _renew(self, stored: Stored, deployment: Document, newest: Document, old: list[Document]) -> Document:
        """Bring annotations, revision and minReadySeconds of the current ReplicaSet up to date."""
        revision = max(map(_revision, old), default=0) + 1

        def change(document: Document) -> None:
            annotations = document["metadata"].setdefault("annotations", {})
            annotations.update(_copied(deployment))
            before = annotations.get(rollout.REVISION)
            if _revision(document) < revision:
                annotations[rollout.REVISION] = str(revision)
                if before is not None:
                    history = annotations.get(rollout.REVISION_HISTORY)
                    annotations[rollout.REVISION_HISTORY] = f"{history},{before}" if history else before
            seconds = deployment["spec"].get("minReadySeconds", 0)
            if document["spec"].get("minReadySeconds", 0) != seconds:
                document["spec"]["minReadySeconds"] = seconds

        renewed = self._modify_set(newest, change)
        text = f'Found new replica set "{renewed["metadata"]["name"]}"'
        self._note_newest(stored, deployment, renewed, "FoundNewReplicaSet", text)
        return renewed

    def _create_newest(self, stored: Stored, deployment: Document, old: list[Document]) -> Document:
        document = self._newest_document(deployment, old)
        name = document["metadata"]["name"]
        try:
            created = self.store.create(
                self._sets, document, namespace=deployment["metadata"]["namespace"], writer=self.name
            ).document()
        except AlreadyExists:
            self._note_collision(stored, deployment)
            raise
        except StatusError as refusal:
            text = f'Failed to create new replica set "{name}": {refusal.message}'
            self._set_condition(stored, new_condition("Progressing", False, "ReplicaSetCreateError", text, self._now()))
            raise
        text = f'Created new replica set "{name}"'
        self._note_newest(stored, deployment, created, "NewReplicaSetCreated", text)
        return created

    def _newest_document(self, deployment: Document, old: list[Document]) -> Document:
        spec, meta = deployment["spec"], deployment["metadata"]
        hashed = template_hash(spec["template"], deployment.get("status", {}).get("collisionCount"))
        source = spec["template"].get("metadata", {})
        labels = source.get("labels", {}) | {TEMPLATE_HASH: hashed}
        selector = dict(spec["selector"])
        selector["matchLabels"] = selector.get("matchLabels", {}) | {TEMPLATE_HASH: hashed}
        revision = max(map(_revision, old), default=0) + 1
        notes = _copied(deployment) | {rollout.REVISION: str(revision)} | _replica_notes(deployment)
        new_spec: Document = {
            "replicas": rollout.new_size(deployment, old, 0),
            "selector": selector,
            "template": spec["template"] | {"metadata": source | {"labels": labels}},
        }
        if spec.get("minReadySeconds"):
            new_spec["minReadySeconds"] = spec["minReadySeconds"]
        return {
            "apiVersion": self._sets.api_version,
            "kind": self._sets.kind,
            "metadata": {
                "name": f"{meta['name'][: 252 - len(hashed)]}-{hashed}",
                "labels": labels,
                "annotations": notes,
                "ownerReferences": [controller_reference(self.kind, deployment)],
            },
            "spec": new_spec,
        }

    def _forget_oldest(self, deployment: Document, old: list[Document]) -> None:
        limit = deployment["spec"].get("revisionHistoryLimit", 10)
        if limit == rollout.NEVER or not rollout.is_complete(deployment, deployment.get("status", {})):
            return
        alive = sorted((rs for rs in old if "deletionTimestamp" not in rs["metadata"]), key=_revision)
        for replica_set in alive[: max(0, len(alive) - limit)]:
            meta, status = replica_set["metadata"], replica_set.get("status", {})
            is_seen = meta.get("generation", 0) <= status.get("observedGeneration", 0)
            if is_seen and not status.get("replicas") and not rollout.replicas(replica_set):
                self.store.delete(self._sets, meta["name"], namespace=meta["namespace"], writer=self.name)

    # Status.

    def _now(self) -> int:
        return self.clock.now()

    def _write_status(self, stored: Stored, deployment: Document) -> None:
        deployment = self.store.get(self.kind, stored.name, stored.namespace).document()
        newest, old = self._split(deployment, self._owned(deployment))
        everything = [*old, *([newest] if newest else [])]
        status = rollout.count_status(deployment, everything, newest, self._now())
        rollout.judge_progress(deployment, status, newest, self._now())
        rollout.carry_failure(status, everything, newest)
        self._modify_status(stored, lambda document: document.__setitem__("status", status))
        self._look_again_at_deadline(deployment, status)

    def _write_plain_status(
        self, stored: Stored, deployment: Document, newest: Document | None, old: list[Document]
    ) -> None:
        deployment = self.store.get(self.kind, stored.name, stored.namespace).document()
        everything = [*old, *([newest] if newest else [])]
        status = rollout.count_status(deployment, everything, newest, self._now())
        self._modify_status(stored, lambda document: document.__setitem__("status", status))

    def _look_again_at_deadline(self, deployment: Document, status: Document) -> None:
        seconds, progressing = rollout.deadline(deployment), find_condition(status, "Progressing")
        if seconds is None or progressing is None or rollout.is_complete(deployment, status):
            return
        if progressing["reason"] != "ProgressDeadlineExceeded":
            due = parse_time(progressing["lastUpdateTime"]) + (seconds + 1) * SECOND
            self.enqueue_after((deployment["metadata"]["namespace"], deployment["metadata"]["name"]), due - self._now())

    def _note_pause(self, stored: Stored, deployment: Document) -> None:
        """Pausing and resuming restart the progress deadline."""
        current = find_condition(deployment.get("status", {}), "Progressing")
        if rollout.deadline(deployment) is None or (current and current["reason"] == "ProgressDeadlineExceeded"):
            return
        paused, noted = (
            bool(deployment["spec"].get("paused")),
            bool(current and current["reason"] == "DeploymentPaused"),
        )
        if paused == noted:
            return
        reason, text = (
            ("DeploymentPaused", "Deployment is paused") if paused else ("DeploymentResumed", "Deployment is resumed")
        )
        condition = new_condition("Progressing", True, reason, text, self._now()) | {"status": "Unknown"}
        self._set_condition(stored, condition)

    def _note_newest(self, stored: Stored, deployment: Document, newest: Document, reason: str, text: str) -> None:
        """Copy the revision to the Deployment and say that there is a ReplicaSet to wait for."""
        revision = newest["metadata"]["annotations"][rollout.REVISION]
        is_new = reason == "NewReplicaSetCreated"

        def change(document: Document) -> None:
            document["metadata"].setdefault("annotations", {})[rollout.REVISION] = revision
            status = document.setdefault("status", {})
            known = find_condition(status, "Progressing")
            if rollout.deadline(deployment) is not None and (is_new or known is None):
                set_condition(status, new_condition("Progressing", True, reason, text, self._now()))

        self._modify_status(stored, change)

    def _note_collision(self, stored: Stored, deployment: Document) -> None:
        count = deployment.get("status", {}).get("collisionCount", 0) + 1
        self._modify_status(stored, lambda document: document.setdefault("status", {}).update(collisionCount=count))
        self.enqueue((stored.namespace, stored.name))

    def _set_condition(self, stored: Stored, condition: Document) -> None:
        self._modify_status(stored, lambda document: set_condition(document.setdefault("status", {}), condition))

    def _modify_status(self, stored: Stored, change: Callable[[Document], None]) -> None:
        self.store.modify(
            self.kind, stored.name, change, namespace=stored.namespace, subresource="status", writer=self.name
        )

    # Who is woken by what.

    def _replica_set_changed(self, change: Change) -> None:
        for version in (change.stored, change.previous):
            owner = controller_of(version.document()) if version is not None else None
            if owner is not None and owner["kind"] == self.kind.kind:
                self.enqueue((change.stored.namespace, owner["name"]))
            elif version is change.stored and owner is None and change.type != "DELETED":
                self._enqueue_adopters(change.stored)

    def _enqueue_adopters(self, orphan: Stored) -> None:
        labels = orphan.document()["metadata"].get("labels", {})
        for stored in self.store.list(self.kind, orphan.namespace):
            if LabelSelector.from_document(stored.document()["spec"]["selector"]).matches(labels):
                self.enqueue((stored.namespace, stored.name))

    def _pod_gone(self, row: object) -> None:
        """A Recreate rollout waits for the last old pod."""
        owner = getattr(row, "owner", None)
        if owner is None or owner.kind != self._sets.kind:
            return
        try:
            replica_set = self.store.get(self._sets, owner.name, getattr(row, "namespace", "")).document()
        except NotFound:
            return
        parent = controller_of(replica_set)
        if parent is not None and parent["kind"] == self.kind.kind:
            self.enqueue((replica_set["metadata"]["namespace"], parent["name"]))


def _copied(deployment: Document) -> dict[str, str]:
    annotations: dict[str, str] = deployment["metadata"].get("annotations", {})
    return {key: value for key, value in annotations.items() if key not in NOT_COPIED}


def _replica_notes(deployment: Document) -> dict[str, str]:
    wanted = rollout.replicas(deployment)
    return {
        rollout.DESIRED_REPLICAS: str(wanted),
        rollout.MAX_REPLICAS: str(wanted + rollout.max_surge(deployment)),
    }
