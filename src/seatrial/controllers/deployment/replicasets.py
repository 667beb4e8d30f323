"""The ReplicaSets of Deployments: by owner, the one of the current template, and changes to them."""

from collections.abc import Callable

from seatrial.controllers.deployment import rollout
from seatrial.controllers.deployment.template import TEMPLATE_HASH, same_template, template_hash
from seatrial.controllers.framework.metadata import drop_owners
from seatrial.controllers.framework.pod_control import controller_of, controller_reference
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.integers import int64_of
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import LabelSelector
from seatrial.store import Change, Store, Stored, shared_document

NOT_COPIED = {
    "kubectl.kubernetes.io/last-applied-configuration",
    rollout.REVISION,
    rollout.REVISION_HISTORY,
    rollout.DESIRED_REPLICAS,
    rollout.MAX_REPLICAS,
    "deprecated.deployment.rollback.to",
}
LONGEST_HISTORY = 2000
"""Characters of old revisions that a ReplicaSet remembers."""
Place = tuple[str, str]


def age(replica_set: Document) -> tuple[str, str]:
    return replica_set["metadata"]["creationTimestamp"], replica_set["metadata"]["name"]


def revision_of(replica_set: Document) -> int:
    text = replica_set["metadata"].get("annotations", {}).get(rollout.REVISION, "0")
    return int64_of(text)


def split(deployment: Document, owned: list[Document]) -> tuple[Document | None, list[Document]]:
    """The oldest ReplicaSet of the current template, and all others, oldest first."""
    template = deployment["spec"]["template"]
    ordered = sorted(owned, key=age)
    newest = next((rs for rs in ordered if same_template(rs["spec"]["template"], template)), None)
    return newest, [rs for rs in ordered if rs is not newest]


class ReplicaSets:
    """All ReplicaSets by owner; documents are shared between callers and must not be changed."""

    def __init__(
        self, store: Store, kind: Kind, owners: Kind, writer: str, tell: Callable[[Document, str], None]
    ) -> None:
        self._store = store
        self.kind = kind
        self._owners = owners
        self._writer = writer
        self._tell = tell
        """Called with a Deployment and what became of one of its ReplicaSets."""
        self._documents: dict[Place, Document] = {}
        self._owned: dict[str, dict[Place, None]] = {}

    def start(self) -> None:
        for stored in self._store.list(self.kind):
            self._put(stored)

    def stop(self) -> None:
        self._documents.clear()
        self._owned.clear()

    def changed(self, change: Change) -> tuple[Document | None, Document | None]:
        """Follow a change; the ReplicaSet before and after it."""
        place = change.stored.namespace, change.stored.name
        before = self._documents.get(place)
        if before is not None:
            self._take_out(place, before)
        return before, None if change.type == "DELETED" else self._put(change.stored)

    def find(self, namespace: str, name: str) -> Document | None:
        return self._documents.get((namespace, name))

    def owned_by(self, uid: str) -> list[Document]:
        return [self._documents[place] for place in self._owned.get(uid, {})]

    def claim(self, deployment: Document, selector: LabelSelector) -> list[Document]:
        """The ReplicaSets of a Deployment, after adopting orphans that match and releasing those that do not."""
        meta = deployment["metadata"]
        if "deletionTimestamp" in meta:
            return self.owned_by(meta["uid"])
        for document in self.owned_by(meta["uid"]):
            if not selector.matches(document["metadata"].get("labels", {})):
                self.modify(document, lambda rs: drop_owners(rs, {meta["uid"]}))
        for place in list(self._owned.get("", {})):
            orphan = self._documents[place]["metadata"]
            is_alive = place[0] == meta["namespace"] and "deletionTimestamp" not in orphan
            if is_alive and selector.matches(orphan.get("labels", {})):
                self._adopt(self._documents[place], deployment)
        return self.owned_by(meta["uid"])

    def modify(self, replica_set: Document, change: Callable[[Document], object]) -> Document:
        """Change a ReplicaSet; returns its new state."""
        meta = replica_set["metadata"]
        stored = self._store.modify(
            self.kind, meta["name"], lambda rs: _done(change(rs)), namespace=meta["namespace"], writer=self._writer
        )
        return self._documents.get((stored.namespace, stored.name)) or stored.document()

    def resize(self, replica_set: Document, size: int, deployment: Document, *, always: bool = False) -> bool:
        """Give a ReplicaSet its size and the notes about the Deployment's; True if the size changed."""
        is_changed = rollout.replicas(replica_set) != size
        if not is_changed and not always:
            return False
        notes = _replica_notes(deployment)

        def change(document: Document) -> None:
            document["spec"]["replicas"] = size
            document["metadata"].setdefault("annotations", {}).update(notes)

        self.modify(replica_set, change)
        if is_changed:
            before, name = rollout.replicas(replica_set), replica_set["metadata"]["name"]
            word = "up" if before < size else "down"
            self._tell(deployment, f"Scaled {word} replica set {name} from {before} to {size}")
        return is_changed

    def renew(self, deployment: Document, newest: Document, old: list[Document]) -> Document:
        """Bring annotations, revision and minReadySeconds of the current ReplicaSet up to date."""
        seconds = deployment["spec"].get("minReadySeconds", 0)
        annotations: dict[str, str] = newest["metadata"].get("annotations", {})
        wanted = _renewed(annotations, deployment, max(map(revision_of, old), default=0) + 1)
        if wanted == annotations and newest["spec"].get("minReadySeconds", 0) == seconds:
            return newest

        def change(document: Document) -> None:
            document["metadata"]["annotations"] = wanted
            if document["spec"].get("minReadySeconds", 0) != seconds:
                document["spec"]["minReadySeconds"] = seconds

        return self.modify(newest, change)

    def create(self, deployment: Document, old: list[Document]) -> Document:
        """Make the ReplicaSet of the current template."""
        document = self._new(deployment, old)
        namespace = deployment["metadata"]["namespace"]
        created = self._store.create(self.kind, document, namespace=namespace, writer=self._writer).document()
        if size := rollout.replicas(created):
            self._tell(deployment, f"Scaled up replica set {created['metadata']['name']} from 0 to {size}")
        return created

    def name_for(self, deployment: Document) -> str:
        """The name of the ReplicaSet of the current template."""
        hashed = _hash(deployment)
        return f"{deployment['metadata']['name'][: 252 - len(hashed)]}-{hashed}"

    def forget_oldest(self, deployment: Document, old: list[Document]) -> None:
        """Delete unused old ReplicaSets beyond the history limit."""
        limit = deployment["spec"].get("revisionHistoryLimit", 10)
        if limit == rollout.NEVER:
            return
        alive = sorted((rs for rs in old if "deletionTimestamp" not in rs["metadata"]), key=revision_of)
        for replica_set in alive[: max(0, len(alive) - limit)]:
            meta, status = replica_set["metadata"], replica_set.get("status", {})
            is_seen = meta.get("generation", 0) <= status.get("observedGeneration", 0)
            if is_seen and not status.get("replicas") and not rollout.replicas(replica_set):
                self._delete(meta)

    def _delete(self, meta: Document) -> None:
        try:
            self._store.delete(self.kind, meta["name"], namespace=meta["namespace"], writer=self._writer)
        except NotFound:
            return

    def _adopt(self, orphan: Document, deployment: Document) -> None:
        reference = controller_reference(self._owners, deployment)
        self.modify(orphan, lambda rs: rs["metadata"].setdefault("ownerReferences", []).append(reference))

    def _new(self, deployment: Document, old: list[Document]) -> Document:
        spec, hashed = deployment["spec"], _hash(deployment)
        source = spec["template"].get("metadata", {})
        labels = source.get("labels", {}) | {TEMPLATE_HASH: hashed}
        selector = dict(spec["selector"])
        selector["matchLabels"] = selector.get("matchLabels", {}) | {TEMPLATE_HASH: hashed}
        revision = max(map(revision_of, old), default=0) + 1
        new_spec: Document = {
            "replicas": rollout.new_size(deployment, old, 0),
            "selector": selector,
            "template": spec["template"] | {"metadata": source | {"labels": labels}},
        }
        if spec.get("minReadySeconds"):
            new_spec["minReadySeconds"] = spec["minReadySeconds"]
        return {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "metadata": {
                "name": self.name_for(deployment),
                "labels": labels,
                "annotations": _copied(deployment) | {rollout.REVISION: str(revision)} | _replica_notes(deployment),
                "ownerReferences": [controller_reference(self._owners, deployment)],
            },
            "spec": new_spec,
        }

    def _put(self, stored: Stored) -> Document:
        place, document = (stored.namespace, stored.name), shared_document(stored)
        self._documents[place] = document
        self._owned.setdefault(_owner(document), {})[place] = None
        return document

    def _take_out(self, place: Place, document: Document) -> None:
        del self._documents[place]
        owned = self._owned[_owner(document)]
        del owned[place]
        if not owned:
            del self._owned[_owner(document)]


def _owner(document: Document) -> str:
    owner = controller_of(document)
    return "" if owner is None else str(owner["uid"])


def _done(result: object) -> None:
    """Discard the result of a change that is made in place."""


def _hash(deployment: Document) -> str:
    collisions = deployment.get("status", {}).get("collisionCount")
    return template_hash(deployment["spec"]["template"], collisions)


def _renewed(annotations: dict[str, str], deployment: Document, revision: int) -> dict[str, str]:
    """A current ReplicaSet's annotations: the Deployment's, and its revision with those it had before."""
    wanted = annotations | _copied(deployment)
    before = annotations.get(rollout.REVISION, "")
    if int64_of(before) < revision:
        wanted[rollout.REVISION] = str(revision)
        if before:
            history = annotations.get(rollout.REVISION_HISTORY)
            wanted[rollout.REVISION_HISTORY] = _shortened(f"{history},{before}" if history else before)
    return wanted


def _shortened(history: str) -> str:
    while len(history) > LONGEST_HISTORY and "," in history:
        history = history.partition(",")[2]
    return history


def _copied(deployment: Document) -> dict[str, str]:
    annotations: dict[str, str] = deployment["metadata"].get("annotations", {})
    return {key: value for key, value in annotations.items() if key not in NOT_COPIED}


def _replica_notes(deployment: Document) -> dict[str, str]:
    wanted = rollout.replicas(deployment)
    return {
        rollout.DESIRED_REPLICAS: str(wanted),
        rollout.MAX_REPLICAS: str(wanted + rollout.max_surge(deployment)),
    }
