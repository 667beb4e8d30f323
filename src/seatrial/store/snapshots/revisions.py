"""Revisions of workloads: ReplicaSets of Deployments, ControllerRevisions of StatefulSets and DaemonSets.

A workload finds its pods up to date by their revision. Revisions that a snapshot leaves out are made from the
workload's template with the hash that its pods carry; those of an unfinished rollout's older pods from such a pod.
Revisions that are there were written by another server: the template inside is brought into the form that this server
stores. Upstream: pkg/controller/history, pkg/controller/deployment/sync.go (v1.36).
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from seatrial.model.documents import Document
from seatrial.model.integers import int64_of
from seatrial.model.label_selectors import LabelSelector
from seatrial.store.metadata import copied
from seatrial.store.objects import Stored
from seatrial.store.options import CreateOptions
from seatrial.store.snapshots.owners import controller_of

if TYPE_CHECKING:
    from seatrial.store.store import Store

TEMPLATE_HASH = "pod-template-hash"
REVISION_HASH = "controller-revision-hash"
HASH_OF_STATEFUL_SET = "controller.kubernetes.io/hash"
DEPLOYMENT_REVISION = "deployment.kubernetes.io/revision"
DESIRED, MOST = "deployment.kubernetes.io/desired-replicas", "deployment.kubernetes.io/max-replicas"
REVISED = ("StatefulSet", "DaemonSet")
COMPARED = ("image", "command", "args", "env", "envFrom", "resources", "ports")
"""The fields of a container that decide whether a pod was made from a template."""
ADDED_LABELS = frozenset(
    {
        TEMPLATE_HASH,
        REVISION_HASH,
        "pod-template-generation",
        "statefulset.kubernetes.io/pod-name",
        "apps.kubernetes.io/pod-index",
    }
)
ADDED_FIELDS = frozenset({"nodeName", "hostname", "subdomain", "priority", "preemptionPolicy", "serviceAccount"})
_STORED = CreateOptions(restored=True)


def absent_replica_sets(documents: Sequence[Document]) -> Iterator[Document]:
    """The ReplicaSets that pods of Deployments refer to."""
    uids = {document["metadata"].get("uid") for document in documents}
    groups: dict[str, list[Document]] = {}
    for pod in documents:
        owner = controller_of(pod) if pod["kind"] == "Pod" else None
        if owner is not None and owner.get("kind") == "ReplicaSet" and owner.get("uid") not in uids:
            groups.setdefault(str(owner["uid"]), []).append(pod)
    for deployment in documents if groups else ():
        if deployment["kind"] == "Deployment":
            mine = [pods for pods in groups.values() if _is_of_deployment(pods[0], deployment)]
            yield from _replica_sets(deployment, mine)


def absent_revisions(documents: Sequence[Document]) -> Iterator[Document]:
    """The ControllerRevisions that StatefulSets, DaemonSets and their pods refer to."""
    revisions: dict[str, list[Document]] = {}
    pods: dict[str, list[Document]] = {}
    for document in documents:
        owner = controller_of(document)
        if owner is not None and document["kind"] == "ControllerRevision":
            revisions.setdefault(str(owner.get("uid")), []).append(document)
        elif owner is not None and document["kind"] == "Pod" and owner.get("kind") in REVISED:
            pods.setdefault(str(owner.get("uid")), []).append(document)
    for document in documents:
        uid = document["metadata"].get("uid")
        if document["kind"] in REVISED and uid:
            yield from _controller_revisions(document, revisions.get(uid, []), pods.get(uid, []))


def align_revisions(store: "Store", loaded: Sequence[Stored], writer: str) -> None:
    """Bring the templates inside loaded ControllerRevisions into the form in which this server stores templates."""
    owners = {stored.document()["metadata"]["uid"]: stored for stored in loaded if stored.kind.kind in REVISED}
    revisions: dict[str, list[Stored]] = {}
    for stored in loaded:
        owner = controller_of(stored.document()) if stored.kind.kind == "ControllerRevision" else None
        if owner is not None and owner["uid"] in owners:
            revisions.setdefault(owner["uid"], []).append(stored)
    for uid, found in revisions.items():
        for stored in found:
            _align(store, stored, owners[uid], _is_current(stored, found, owners[uid].document()), writer)


def _align(store: "Store", revision: Stored, owner: Stored, is_current: bool, writer: str) -> None:
    document, workload = revision.document(), owner.document()
    template = ((document.get("data") or {}).get("spec") or {}).get("template")
    if not isinstance(template, dict):
        return
    if is_current:
        stored_form = workload["spec"]["template"]
    else:
        plain = {key: value for key, value in template.items() if key != "$patch"}
        # A copy of the workload with this template goes the way of every StatefulSet or DaemonSet.
        copy = copied({**workload, "spec": {**workload["spec"], "template": plain}})
        copy = store.rules.decode(owner.kind, copy, _STORED)
        store.rules.apply_defaults(owner.kind, copy)
        stored_form = copy["spec"]["template"]
    data = _data(stored_form)
    if data != document["data"]:
        store.put(revision.kind, {**document, "data": data}, revision, writer=writer)


def _is_current(revision: Stored, all_of_owner: Sequence[Stored], owner: Document) -> bool:
    """Whether a revision is the one of the owner's template: its controller had seen the last change."""
    if not _is_observed(owner):
        return False
    update = (owner.get("status") or {}).get("updateRevision")
    if owner["kind"] == "StatefulSet":
        return revision.name == update
    return revision is max(all_of_owner, key=lambda stored: (stored.document().get("revision", 0), stored.name))


def _controller_revisions(owner: Document, known: Sequence[Document], pods: Sequence[Document]) -> Iterator[Document]:
    names = {revision["metadata"]["name"] for revision in known}
    by_name: dict[str, list[Document]] = {}
    for pod in pods:
        label = (pod["metadata"].get("labels") or {}).get(REVISION_HASH)
        if label:
            by_name.setdefault(_revision_name(owner, label), []).append(pod)
    update = _update_revision(owner, by_name)
    status = owner.get("status") or {}
    wanted = dict.fromkeys(name for name in (status.get("currentRevision"), *by_name, update) if name)
    number = max((int(revision.get("revision") or 0) for revision in known), default=0)
    for name in sorted(wanted, key=lambda name: (name == update, _born(by_name.get(name, ())))):
        if name in names or (name != update and name not in by_name):
            continue
        number += 1
        template = owner["spec"]["template"] if name == update else _template_of(by_name[name][0])
        yield _controller_revision(owner, name, template, number)


def _update_revision(owner: Document, by_name: dict[str, list[Document]]) -> str:
    """The name of the revision of the owner's template; empty where none that is known has it."""
    update = (owner.get("status") or {}).get("updateRevision", "")
    if update and _is_observed(owner):
        return str(update)
    if len(by_name) == 1 and _is_observed(owner) and _is_rolled_out(owner):
        return next(iter(by_name))
    return _newest({name: pods for name, pods in by_name.items() if _is_made_from(owner["spec"]["template"], pods[0])})


def _replica_sets(deployment: Document, groups: Sequence[list[Document]]) -> Iterator[Document]:
    by_uid = {str((controller_of(pods[0]) or {}).get("uid")): pods for pods in groups}
    template = deployment["spec"]["template"]
    matching = {uid: pods for uid, pods in by_uid.items() if _is_made_from(template, pods[0])}
    if len(by_uid) == 1 and _is_observed(deployment) and _is_rolled_out(deployment):
        matching = by_uid
    newest = _newest(matching)
    last = (deployment["metadata"].get("annotations") or {}).get(DEPLOYMENT_REVISION, "")
    number = int64_of(last, len(by_uid))
    older = sorted((uid for uid in by_uid if uid != newest), key=lambda uid: _born(by_uid[uid]))
    for place, uid in enumerate(older):
        before = number - len(older) + place + (newest == "")
        yield _replica_set(deployment, by_uid[uid], _template_of(by_uid[uid][0]), max(before, 1))
    if newest:
        yield _replica_set(deployment, by_uid[newest], template, max(number, 1))


def _replica_set(deployment: Document, pods: Sequence[Document], template: Document, number: int) -> Document:
    owner = controller_of(pods[0]) or {}
    hashed = (pods[0]["metadata"].get("labels") or {}).get(TEMPLATE_HASH) or str(owner["name"]).rpartition("-")[2]
    inner = template.get("metadata") or {}
    labels = {**(inner.get("labels") or {}), TEMPLATE_HASH: hashed}
    selector = deployment["spec"]["selector"]
    alive = [pod for pod in pods if (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")]
    alive = [pod for pod in alive if not pod["metadata"].get("deletionTimestamp")]
    ready = sum(_is_ready(pod) for pod in alive)
    wanted = str(deployment["spec"].get("replicas", 1))
    metadata = {
        "name": owner["name"],
        "namespace": deployment["metadata"].get("namespace", "default"),
        "uid": owner["uid"],
        "labels": labels,
        "annotations": {DEPLOYMENT_REVISION: str(number), DESIRED: wanted, MOST: wanted},
        "ownerReferences": [_reference(deployment)],
        "generation": 1,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {**metadata, **_creation(pods)},
        "spec": {
            "replicas": len(alive),
            "minReadySeconds": deployment["spec"].get("minReadySeconds", 0),
            "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), TEMPLATE_HASH: hashed}},
            "template": {**template, "metadata": {**inner, "labels": labels}},
        },
        "status": {
            "replicas": len(alive),
            "fullyLabeledReplicas": len(alive),
            "readyReplicas": ready,
            "availableReplicas": ready,
            "observedGeneration": 1,
        },
    }


def _controller_revision(owner: Document, name: str, template: Document, number: int) -> Document:
    hashed = name.removeprefix(f"{owner['metadata']['name']}-")
    label = HASH_OF_STATEFUL_SET if owner["kind"] == "StatefulSet" else REVISION_HASH
    labels = {**((owner["spec"]["template"].get("metadata") or {}).get("labels") or {}), label: hashed}
    metadata = {
        "name": name,
        "namespace": owner["metadata"].get("namespace", "default"),
        "labels": labels,
        "ownerReferences": [_reference(owner)],
        **_creation([owner]),
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": metadata,
        "data": _data(template),
        "revision": number,
    }


def _revision_name(owner: Document, label: str) -> str:
    """StatefulSets label their pods with the name of the revision, DaemonSets with its hash."""
    return label if owner["kind"] == "StatefulSet" else f"{owner['metadata']['name']}-{label}"


def _data(template: Document) -> Document:
    return {"spec": {"template": {**template, "$patch": "replace"}}}


def _template_of(pod: Document) -> Document:
    """A template that makes pods like this one."""
    metadata, spec = pod["metadata"], pod.get("spec") or {}
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key not in ADDED_LABELS}
    token = {
        volume["name"] for volume in spec.get("volumes") or () if str(volume.get("name")).startswith("kube-api-access-")
    }
    kept: Document = {key: value for key, value in spec.items() if key not in ADDED_FIELDS}
    kept["volumes"] = [volume for volume in spec.get("volumes") or () if volume["name"] not in token]
    for part in ("containers", "initContainers"):
        if spec.get(part):
            kept[part] = [_without_mounts(container, token) for container in spec[part]]
    inner: Document = {"labels": labels}
    if metadata.get("annotations"):
        inner["annotations"] = metadata["annotations"]
    return {"metadata": inner, "spec": kept}


def _without_mounts(container: Document, volumes: set[str]) -> Document:
    mounts = [mount for mount in container.get("volumeMounts") or () if mount.get("name") not in volumes]
    return {**container, "volumeMounts": mounts}


def _is_of_deployment(pod: Document, deployment: Document) -> bool:
    owner, metadata = controller_of(pod) or {}, deployment["metadata"]
    if pod["metadata"].get("namespace", "default") != metadata.get("namespace", "default"):
        return False
    if not str(owner.get("name")).startswith(f"{metadata['name']}-"):
        return False
    return LabelSelector.from_document(deployment["spec"]["selector"]).matches(pod["metadata"].get("labels") or {})


def _is_made_from(template: Document, pod: Document) -> bool:
    """Whether a pod has the containers of a template; admission may have added more."""
    made = {container.get("name"): container for container in (pod.get("spec") or {}).get("containers") or ()}
    wanted = (template.get("spec") or {}).get("containers") or ()
    return all(_covers({key: c[key] for key in COMPARED if key in c}, made.get(c.get("name"))) for c in wanted)


def _covers(wanted: Any, given: Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(given, dict) and all(_covers(value, given.get(key)) for key, value in wanted.items())
    if isinstance(wanted, list):
        is_long_enough = isinstance(given, list) and len(given) >= len(wanted)
        return is_long_enough and all(map(_covers, wanted, given))
    return bool(wanted == given)


def _is_observed(workload: Document) -> bool:
    generation = workload["metadata"].get("generation")
    return generation is not None and (workload.get("status") or {}).get("observedGeneration") == generation


def _is_rolled_out(workload: Document) -> bool:
    status = workload.get("status") or {}
    if workload["kind"] == "DaemonSet":
        return bool(status.get("updatedNumberScheduled", 0) == status.get("currentNumberScheduled"))
    return bool(status.get("updatedReplicas", 0) == status.get("replicas"))


def _is_ready(pod: Document) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(condition.get("type") == "Ready" and condition.get("status") == "True" for condition in conditions)


def _newest(groups: dict[str, list[Document]]) -> str:
    return max(groups, key=lambda name: (_born(groups[name]), name), default="")


def _born(pods: Sequence[Document]) -> str:
    return min((str(pod["metadata"].get("creationTimestamp", "")) for pod in pods), default="")


def _creation(objects: Sequence[Document]) -> Document:
    return {"creationTimestamp": born} if (born := _born(objects)) else {}


def _reference(owner: Document) -> Document:
    metadata = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
