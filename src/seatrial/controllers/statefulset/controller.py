"""StatefulSet: numbered pods with names and claims of their own, in order or all at once.

Upstream: pkg/controller/statefulset (v1.36).
"""

from typing import ClassVar

from seatrial.controllers.framework.controller import Context, Key
from seatrial.controllers.framework.controller_revision import History, template_of
from seatrial.controllers.framework.pod_control import PodOwner, is_terminating, pod_from_template, set_status
from seatrial.controllers.framework.pod_row import PodRow
from seatrial.controllers.statefulset.claims import SetClaims
from seatrial.controllers.statefulset.ordinals import ordinal_of, ordinals
from seatrial.model.documents import Document
from seatrial.model.errors import StatusError
from seatrial.model.times import SECOND
from seatrial.store import Stored

POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"
REVISION = "controller-revision-hash"


class StatefulSet(PodOwner):
    """Keeps pods 0…n-1."""

    name: ClassVar[str] = "statefulset"
    component: ClassVar[str] = "statefulset-controller"
    owner: ClassVar[tuple[str, str]] = ("apps/v1", "StatefulSet")

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._claims = SetClaims(context, self.kind, self.name)
        self._history = History(context, self.kind, self.name, "controller.kubernetes.io/hash")

    def start(self) -> None:
        self._history.start()
        super().start()

    def stop(self) -> None:
        super().stop()
        self._history.stop()

    def can_adopt(self, key: Key, orphan: PodRow) -> bool:
        return ordinal_of(orphan.name, key[1]) is not None

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            return
        owner = stored.document()
        self.claim(owner)
        revisions = self._history.of(owner)
        update = self._history.current(owner, revisions)
        known = owner.get("status", {}).get("currentRevision")
        current = next((revision for revision in revisions if revision["metadata"]["name"] == known), update)
        if "deletionTimestamp" not in owner["metadata"]:
            self._move(owner, current, update)
        self._write_status(stored, owner, current, update)
        live = {current["metadata"]["name"], update["metadata"]["name"]}
        live |= {row.labels.get(REVISION, "") for row in self.rows(owner)}
        self._history.forget(owner, revisions, live)

    # Pods, one step at a time.

    def _move(self, owner: Document, current: Document, update: Document) -> None:
        replicas, condemned = self._sort(owner)
        in_order = owner["spec"].get("podManagementPolicy", "OrderedReady") != "Parallel"
        for ordinal in ordinals(owner):
            if self._settle(owner, current, update, ordinal, replicas.get(ordinal)) and in_order:
                return
        for ordinal, row in condemned:
            self._own_claims(owner, ordinal, row)
        if self._remove(owner, replicas, condemned, in_order=in_order):
            return
        self._replace_outdated(owner, update)

    def _settle(self, owner: Document, current: Document, update: Document, ordinal: int, row: PodRow | None) -> bool:
        """Reconcile one pod; True while it is not as it should be."""
        if row is not None and row.phase in ("Failed", "Succeeded"):
            if not row.is_deleting:
                self.delete_pod(row)
            return True
        if row is None:
            if not self._claims.has_stale(owner, ordinal, f"{owner['metadata']['name']}-{ordinal}"):
                self._create(owner, current, update, ordinal)
            return True
        if row.phase == "Pending":
            self._claims.make(owner, ordinal)
        if row.is_deleting or not self._is_available(owner, row):
            return True
        self._own_claims(owner, ordinal, row)
        return False

    def _own_claims(self, owner: Document, ordinal: int, row: PodRow) -> None:
        if owner["spec"].get("volumeClaimTemplates"):
            self._claims.own(owner, ordinal, row.name, row.uid)

    def _remove(
        self, owner: Document, replicas: dict[int, PodRow], condemned: list[tuple[int, PodRow]], *, in_order: bool
    ) -> bool:
        """Delete pods beyond the last number, highest first; True while a set in order waits for one."""
        all_rows = [row for _, row in [*sorted(replicas.items()), *reversed(condemned)]]
        first_unavailable = next((row for row in all_rows if self._is_unavailable(owner, row)), None)
        for _, row in condemned:
            if row.is_deleting:
                if in_order:
                    return True
                continue
            if in_order and not self._is_available(owner, row) and row is not first_unavailable:
                return True
            self.delete_pod(row)
            if in_order:
                return True
        return False

    def _create(self, owner: Document, current: Document, update: Document, ordinal: int) -> None:
        revision = current if self._is_before_update(owner, ordinal) else update
        meta, spec = owner["metadata"], owner["spec"]
        self._claims.make(owner, ordinal)
        pod = pod_from_template(template_of(revision), self.kind, owner)
        name = f"{meta['name']}-{ordinal}"
        pod["metadata"]["name"] = name
        pod["metadata"]["labels"] = pod["metadata"].get("labels", {}) | {
            POD_NAME: name,
            POD_INDEX: str(ordinal),
            REVISION: revision["metadata"]["name"],
        }
        pod["spec"] = pod["spec"] | {"hostname": name}
        if spec.get("serviceName"):
            pod["spec"]["subdomain"] = spec["serviceName"]
        claimed = [template["metadata"]["name"] for template in spec.get("volumeClaimTemplates", [])]
        volumes = [{"name": claim, "persistentVolumeClaim": {"claimName": f"{claim}-{name}"}} for claim in claimed]
        volumes += [volume for volume in pod["spec"].get("volumes", []) if volume["name"] not in claimed]
        if volumes:
            pod["spec"]["volumes"] = volumes
        text = f"Create Pod {name} in StatefulSet {meta['name']}"
        try:
            created = self.store.create(self.pods, pod, namespace=meta["namespace"], writer=self.name).document()
        except StatusError as refusal:
            if not is_terminating(refusal):
                self.record(self.kind, owner, "FailedCreate", f"{text} failed error: {refusal.message}", "Warning")
            raise
        self.record(self.kind, owner, "SuccessfulCreate", f"{text} successful")
        self._claims.own(owner, ordinal, name, created["metadata"]["uid"])

    def deletion_event(self, row: PodRow) -> tuple[str, str]:
        set_name = row.owner.name if row.owner is not None else ""
        return "SuccessfulDelete", f"Delete Pod {row.name} in StatefulSet {set_name} successful"

    def _replace_outdated(self, owner: Document, update: Document) -> None:
        """Delete the highest pod of an older revision, once all above it are available."""
        strategy = owner["spec"].get("updateStrategy", {})
        if strategy.get("type", "RollingUpdate") == "OnDelete":
            return
        replicas, _ = self._sort(owner)
        wanted = ordinals(owner)
        for ordinal in reversed(wanted[(strategy.get("rollingUpdate") or {}).get("partition", 0) :]):
            row = replicas.get(ordinal)
            if row is not None and row.labels.get(REVISION) != update["metadata"]["name"] and not row.is_deleting:
                self.delete_pod(row)
                return
            if row is None or self._is_unavailable(owner, row):
                return

    # Reading.

    def _sort(self, owner: Document) -> tuple[dict[int, PodRow], list[tuple[int, PodRow]]]:
        """Pods within the range of ordinals, by ordinal, and those to delete, highest first."""
        wanted = ordinals(owner)
        replicas: dict[int, PodRow] = {}
        condemned: dict[int, PodRow] = {}
        for row in self.rows(owner):
            ordinal = ordinal_of(row.name, owner["metadata"]["name"])
            if ordinal is not None:
                (replicas if ordinal in wanted else condemned)[ordinal] = row
        return replicas, sorted(condemned.items(), reverse=True)

    def _is_before_update(self, owner: Document, ordinal: int) -> bool:
        """Whether a pod of this number is still made from the current revision."""
        strategy, first = owner["spec"].get("updateStrategy", {}), ordinals(owner).start
        rolling = strategy.get("rollingUpdate")
        is_rolling = strategy.get("type", "RollingUpdate") == "RollingUpdate"
        if is_rolling and rolling is None:
            return bool(ordinal < first + owner.get("status", {}).get("currentReplicas", 0))
        return rolling is not None and bool(ordinal < first + rolling.get("partition", 0))

    def _is_available(self, owner: Document, row: PodRow) -> bool:
        return row.is_available(self.clock.now(), owner["spec"].get("minReadySeconds", 0) * SECOND)

    def _is_unavailable(self, owner: Document, row: PodRow) -> bool:
        return row.is_deleting or not self._is_available(owner, row)

    # Status.

    def _write_status(self, stored: Stored, owner: Document, current: Document, update: Document) -> None:
        rows = [row for row in self.rows(owner) if ordinal_of(row.name, owner["metadata"]["name"]) is not None]
        here = [row for row in rows if not row.is_deleting]
        ready = [row for row in rows if row.is_ready and row.phase == "Running"]
        available = sum(self._is_available(owner, row) for row in ready)
        names = current["metadata"]["name"], update["metadata"]["name"]
        status: Document = {
            "observedGeneration": owner["metadata"].get("generation", 0),
            "replicas": len(rows),
            "readyReplicas": len(ready),
            "currentReplicas": sum(row.labels.get(REVISION) == names[0] for row in here),
            "updatedReplicas": sum(row.labels.get(REVISION) == names[1] for row in here),
            "currentRevision": names[0],
            "updateRevision": names[1],
            "collisionCount": owner.get("status", {}).get("collisionCount", 0),
        }
        wanted = len(ordinals(owner))
        is_rolling = owner["spec"].get("updateStrategy", {}).get("type", "RollingUpdate") == "RollingUpdate"
        if is_rolling and len(rows) == len(ready) == status["updatedReplicas"] == wanted:
            status |= {"currentReplicas": wanted, "currentRevision": names[1]}
        for field in ("readyReplicas", "currentReplicas", "updatedReplicas"):
            if not status[field]:
                del status[field]
        status["availableReplicas"] = available
        set_status(self.context, stored, status, self.name)
        min_ready = owner["spec"].get("minReadySeconds", 0) * SECOND
        if min_ready and available != len(ready):
            self.enqueue_after((stored.namespace, stored.name), min_ready)
