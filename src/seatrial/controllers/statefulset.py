"""StatefulSet: numbered pods with names and claims of their own, in order or all at once.

Upstream: pkg/controller/statefulset (v1.36).
"""

import re
from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.controller import Context, Key, Listener, QueueController
from seatrial.controllers.history import History, template_of
from seatrial.controllers.owning import PodClaims, controller_reference, delete_pod, pod_from_template, set_status
from seatrial.controllers.pods import PodRow
from seatrial.controllers.rollout import scaled
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.labels import LabelSelector
from seatrial.model.times import SECOND
from seatrial.store.objects import Stored

POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"
REVISION = "controller-revision-hash"
_ORDINAL = re.compile(r"(.*)-(\d+)$")


def ordinal_of(name: str, set_name: str) -> int | None:
    """The number at the end of a pod's name, if the rest is the set's."""
    match = _ORDINAL.match(name)
    return int(match.group(2)) if match and match.group(1) == set_name else None


class StatefulSet(QueueController):
    """Keeps pods 0…n-1."""

    name: ClassVar[str] = "statefulset"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("apps/v1", "StatefulSet")
        self._pods = context.kind("v1", "Pod")
        self._volume_claims = context.kind("v1", "PersistentVolumeClaim")
        self._claims = PodClaims(context, self.kind, self.name)
        self._history = History(context, self.kind, self.name, "controller.kubernetes.io/hash")

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self.enqueue_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def start(self) -> None:
        super().start()
        self._unsubscribe.append(self.context.pods.listen(self._pod_changed))

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            return
        owner = stored.document()
        orphans = [row for row in self.context.pods.orphans(key[0]) if ordinal_of(row.name, key[1]) is not None]
        self._claims.claim(owner, LabelSelector.from_document(owner["spec"]["selector"]), orphans)
        revisions = self._history.of(owner)
        update = self._history.current(owner, revisions)
        known = owner.get("status", {}).get("currentRevision")
        current = next((revision for revision in revisions if revision["metadata"]["name"] == known), update)
        if "deletionTimestamp" not in owner["metadata"]:
            self._move(owner, current, update)
        self._write_status(stored, owner, current, update)
        live = {current["metadata"]["name"], update["metadata"]["name"]}
        live |= {row.labels.get(REVISION, "") for row in self._rows(owner)}
        self._history.forget(owner, revisions, live)

    # Pods, one step at a time.

    def _move(self, owner: Document, current: Document, update: Document) -> None:
        replicas, condemned = self._sort(owner)
        in_order = owner["spec"].get("podManagementPolicy", "OrderedReady") != "Parallel"
        first = self._first_ordinal(owner)
        for ordinal in range(first, first + owner["spec"].get("replicas", 1)):
            if self._settle(owner, current, update, ordinal, replicas.get(ordinal)) and in_order:
                return
        unhealthy = next((row for row in reversed(condemned) if not self._is_available(owner, row)), None)
        healthy_first = next((r for _, r in sorted(replicas.items()) if not self._is_available(owner, r)), unhealthy)
        for row in condemned:
            if row.is_deleting:
                if in_order:
                    return
                continue
            if in_order and not self._is_available(owner, row) and row is not healthy_first:
                return
            delete_pod(self.context, row, self.name)
            if in_order:
                return
        self._replace_outdated(owner, update)

    def _settle(self, owner: Document, current: Document, update: Document, ordinal: int, row: PodRow | None) -> bool:
        """Bring one pod forward; True while it is not where it should be."""
        if row is not None and row.phase in ("Failed", "Succeeded"):
            if not row.is_deleting:
                delete_pod(self.context, row, self.name)
            return True
        if row is None:
            self._create(owner, current, update, ordinal)
            return True
        if row.phase == "Pending":
            self._make_claims(owner, ordinal)
        return row.is_deleting or not self._is_available(owner, row)

    def _create(self, owner: Document, current: Document, update: Document, ordinal: int) -> None:
        revision = current if self._is_before_update(owner, ordinal) else update
        meta, spec = owner["metadata"], owner["spec"]
        self._make_claims(owner, ordinal)
        pod = pod_from_template(template_of(revision), self.kind, owner)
        name = f"{meta['name']}-{ordinal}"
        del pod["metadata"]["generateName"]
        pod["metadata"]["name"] = name
        pod["metadata"]["labels"] = pod["metadata"].get("labels", {}) | {
            POD_NAME: name,
            POD_INDEX: str(ordinal),
            REVISION: revision["metadata"]["name"],
        }
        volumes = [
            {"name": claim, "persistentVolumeClaim": {"claimName": f"{claim}-{name}"}} for claim in _claim_names(spec)
        ]
        others = [v for v in pod["spec"].get("volumes", []) if v["name"] not in _claim_names(spec)]
        pod["spec"] = pod["spec"] | {"hostname": name}
        if spec.get("serviceName"):
            pod["spec"]["subdomain"] = spec["serviceName"]
        if volumes or others:
            pod["spec"]["volumes"] = volumes + others
        self.store.create(self._pods, pod, namespace=meta["namespace"], writer=self.name)

    def _make_claims(self, owner: Document, ordinal: int) -> None:
        meta, spec = owner["metadata"], owner["spec"]
        for template in spec.get("volumeClaimTemplates", []):
            name = f"{template['metadata']['name']}-{meta['name']}-{ordinal}"
            if self.store.find(self._volume_claims, name, meta["namespace"]) is not None:
                continue
            labels = template["metadata"].get("labels", {}) | spec["selector"].get("matchLabels", {})
            claim_meta: Document = template["metadata"] | {"name": name, "labels": labels}
            claim_meta.pop("creationTimestamp", None)
            if spec.get("persistentVolumeClaimRetentionPolicy", {}).get("whenDeleted") == "Delete":
                claim_meta["ownerReferences"] = [controller_reference(self.kind, owner)]
            claim = {key: value for key, value in template.items() if key != "status"} | {"metadata": claim_meta}
            claim |= {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
            self.store.create(self._volume_claims, claim, namespace=meta["namespace"], writer=self.name)

    def _replace_outdated(self, owner: Document, update: Document) -> None:
        """Delete pods of an older revision, highest number first, while few enough are unavailable."""
        strategy = owner["spec"].get("updateStrategy", {})
        if strategy.get("type", "RollingUpdate") == "OnDelete":
            return
        rolling = strategy.get("rollingUpdate") or {}
        replicas, _ = self._sort(owner)
        wanted = owner["spec"].get("replicas", 1)
        most = max(1, scaled(rolling.get("maxUnavailable", 1), wanted, up=False))
        unavailable = wanted - sum(self._is_available(owner, row) and not row.is_deleting for row in replicas.values())
        lowest = self._first_ordinal(owner) + rolling.get("partition", 0)
        for ordinal, row in sorted(replicas.items(), reverse=True):
            if ordinal < lowest or unavailable >= most:
                return
            if row.labels.get(REVISION) != update["metadata"]["name"] and not row.is_deleting:
                delete_pod(self.context, row, self.name)
                unavailable += 1

    # Reading.

    def _rows(self, owner: Document) -> list[PodRow]:
        rows = self.context.pods.owned_by(owner["metadata"]["uid"]).rows.values()
        return [row for row in rows if ordinal_of(row.name, owner["metadata"]["name"]) is not None]

    def _sort(self, owner: Document) -> tuple[dict[int, PodRow], list[PodRow]]:
        """Pods that belong, by ordinal, and those that have to go, highest first."""
        first, wanted = self._first_ordinal(owner), owner["spec"].get("replicas", 1)
        replicas: dict[int, PodRow] = {}
        condemned: dict[int, PodRow] = {}
        for row in self._rows(owner):
            ordinal = ordinal_of(row.name, owner["metadata"]["name"])
            if ordinal is not None:
                (replicas if first <= ordinal < first + wanted else condemned)[ordinal] = row
        return replicas, [row for _, row in sorted(condemned.items(), reverse=True)]

    @staticmethod
    def _first_ordinal(owner: Document) -> int:
        start: int = (owner["spec"].get("ordinals") or {}).get("start", 0)
        return start

    def _is_before_update(self, owner: Document, ordinal: int) -> bool:
        strategy = owner["spec"].get("updateStrategy", {})
        rolling, first = strategy.get("rollingUpdate"), self._first_ordinal(owner)
        if rolling is not None:
            return bool(ordinal < first + rolling.get("partition", 0))
        is_rolling = strategy.get("type", "RollingUpdate") == "RollingUpdate"
        return is_rolling and bool(ordinal < first + owner.get("status", {}).get("currentReplicas", 0))

    def _is_available(self, owner: Document, row: PodRow) -> bool:
        return row.is_available(self.clock.now(), owner["spec"].get("minReadySeconds", 0) * SECOND)

    # Status.

    def _write_status(self, stored: Stored, owner: Document, current: Document, update: Document) -> None:
        rows = self._rows(owner)
        here = [row for row in rows if not row.is_deleting]
        names = current["metadata"]["name"], update["metadata"]["name"]
        available = sum(self._is_available(owner, row) for row in rows)
        status: Document = {
            "observedGeneration": owner["metadata"].get("generation", 0),
            "replicas": len(rows),
            "readyReplicas": sum(row.is_ready and row.phase == "Running" for row in rows),
            "currentReplicas": sum(row.labels.get(REVISION) == names[0] for row in here),
            "updatedReplicas": sum(row.labels.get(REVISION) == names[1] for row in here),
            "currentRevision": names[0],
            "updateRevision": names[1],
            "collisionCount": owner.get("status", {}).get("collisionCount", 0),
        }
        wanted = owner["spec"].get("replicas", 1)
        counts = [status[field] for field in ("replicas", "readyReplicas", "updatedReplicas")]
        is_rolling = owner["spec"].get("updateStrategy", {}).get("type", "RollingUpdate") == "RollingUpdate"
        if is_rolling and counts == [wanted] * 3:
            status |= {"currentReplicas": status["updatedReplicas"], "currentRevision": names[1]}
        kept = ("replicas", "collisionCount", "observedGeneration", "currentRevision", "updateRevision")
        status = {field: value for field, value in status.items() if value or field in kept}
        status["availableReplicas"] = available
        set_status(self.context, stored, status, self.name)
        min_ready = owner["spec"].get("minReadySeconds", 0) * SECOND
        if min_ready and available != counts[1]:
            self.enqueue_after((stored.namespace, stored.name), min_ready)

    def _pod_changed(self, old: PodRow | None, new: PodRow | None) -> None:
        for row in (old, new):
            if row is not None and row.owner is not None and row.owner.kind == self.kind.kind:
                self.enqueue((row.namespace, row.owner.name))


def _claim_names(spec: Document) -> list[str]:
    return [template["metadata"]["name"] for template in spec.get("volumeClaimTemplates", [])]
