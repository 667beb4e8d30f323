"""PrepareForCreate and PrepareForUpdate of the kinds that have one: fields that are set or reset on a write.

Upstream: the PrepareForCreate, PrepareForUpdate and Canonicalize methods of pkg/registry/*/*/strategy.go.
"""

from seatrial.model.documents import Document
from seatrial.model.integers import int64_of
from seatrial.model.times import to_time
from seatrial.store.registry.qos import quality_of_service

GATED = "Scheduling is blocked due to non-empty scheduling gates"
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def pod_created(document: Document, now: int) -> None:
    spec = document.get("spec") or {}
    status: Document = {"phase": "Pending", "qosClass": quality_of_service(spec)}
    if spec.get("schedulingGates"):
        condition = {"type": "PodScheduled", "status": "False", "lastProbeTime": None, "lastTransitionTime": None}
        status["conditions"] = [{**condition, "reason": "SchedulingGated", "message": GATED}]
    document["status"] = status


def namespace_created(document: Document, now: int) -> None:
    document["status"] = {"phase": "Active"}
    spec = document["spec"] = dict(document.get("spec") or {})
    finalizers = spec.get("finalizers") or []
    if "kubernetes" not in finalizers:
        spec["finalizers"] = [*finalizers, "kubernetes"]
    _name_label(document, {}, now)


def _name_label(document: Document, old: Document, now: int) -> None:
    metadata = document["metadata"]
    metadata["labels"] = {**(metadata.get("labels") or {}), "kubernetes.io/metadata.name": metadata["name"]}


def namespace_updated(document: Document, old: Document, now: int) -> None:
    spec, finalizers = dict(document.get("spec") or {}), (old.get("spec") or {}).get("finalizers")
    spec.pop("finalizers", None)
    document["spec"] = {**spec, **({"finalizers": finalizers} if finalizers else {})}
    _name_label(document, old, now)


def volume_created(document: Document, now: int) -> None:
    document["status"] = {"phase": "Pending", "lastPhaseTransitionTime": to_time(now)}


def volume_status_updated(document: Document, old: Document, now: int) -> None:
    status, before = document.get("status") or {}, old.get("status") or {}
    moved, earlier = status.get("lastPhaseTransitionTime"), before.get("lastPhaseTransitionTime")
    if status.get("phase") == before.get("phase"):
        if not moved and earlier:
            document["status"] = {**status, "lastPhaseTransitionTime": earlier}
    elif not moved or moved == earlier:
        document["status"] = {**status, "lastPhaseTransitionTime": to_time(now)}


def claim_created(document: Document, now: int) -> None:
    document["status"] = {"phase": "Pending"}
    claim_sources(document, {}, now)


def claim_sources(document: Document, old: Document, now: int) -> None:
    """dataSource and dataSourceRef are two spellings; each fills in the other, unless a namespace is named.

    A reference into another namespace is behind a gate that is off, and other sources than claims and snapshots were
    never allowed in dataSource alone: both are dropped, unless they are there already.
    """
    spec, before = document.get("spec") or {}, old.get("spec") or {}
    if (spec.get("dataSourceRef") or {}).get("namespace") and not before.get("dataSourceRef"):
        del spec["dataSourceRef"]
    given = spec.get("dataSource")
    if given is not None and not before.get("dataSource") and spec.get("dataSourceRef") is None:
        kind = (given.get("apiGroup") or "", given.get("kind"))
        if kind not in (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot")):
            del spec["dataSource"]
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source and not reference:
        spec["dataSourceRef"] = dict(source)
    elif reference and not source and not reference.get("namespace"):
        spec["dataSource"] = dict(reference)


def daemon_set_created(document: Document, now: int) -> None:
    _set_template_generation(document, 1)


def daemon_set_updated(document: Document, old: Document, now: int) -> None:
    before = (old["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION, "1")
    generation = int64_of(before, 1)
    changed = (document.get("spec") or {}).get("template") != (old.get("spec") or {}).get("template")
    _set_template_generation(document, generation + 1 if changed else generation)


def _set_template_generation(document: Document, generation: int) -> None:
    metadata = document["metadata"]
    metadata["annotations"] = {**(metadata.get("annotations") or {}), TEMPLATE_GENERATION: str(generation)}


def job_created(document: Document, now: int) -> None:
    """A Job without a selector of its own selects its pods by its uid."""
    spec, metadata = document.get("spec") or {}, document["metadata"]
    if spec.get("manualSelector") or not isinstance(spec.get("template"), dict):
        return
    template = dict(spec["template"])
    uid, name = metadata["uid"], metadata["name"]
    about = dict(template.get("metadata") or {})
    is_shared = about.get("labels") is not None and about.get("labels") is metadata.get("labels")
    is_shared = is_shared and not metadata.get("generateName")  # of which upstream takes a copy for each attempt
    about["labels"] = {
        **(about.get("labels") or {}),
        "controller-uid": uid,
        "job-name": name,
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
    }
    if is_shared:
        metadata["labels"] = dict(about["labels"])
    template["metadata"] = about
    selector = dict(spec.get("selector") or {})
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), "batch.kubernetes.io/controller-uid": uid}
    document["spec"] = {**spec, "selector": selector, "template": template}


def pod_status_updated(document: Document, old: Document, now: int) -> None:
    """Class of service and observed generations, once known, are not lost by a client that leaves them out."""
    status, before = document.get("status"), old.get("status") or {}
    if not isinstance(status, dict):
        return
    for key in ("qosClass", "observedGeneration"):
        if not status.get(key) and before.get(key):
            status[key] = before[key]
    earlier: dict[str, list[int]] = {}
    for condition in before.get("conditions") or ():
        earlier.setdefault(condition.get("type", ""), []).append(condition.get("observedGeneration") or 0)
    for condition in status.get("conditions") or ():
        generations = earlier.get(condition.get("type", ""))
        generation = generations.pop(0) if generations else 0
        if generation and not condition.get("observedGeneration"):
            condition["observedGeneration"] = generation


def certificate_request_updated(document: Document, old: Document, now: int) -> None:
    """The spec never changes; conditions and the certificate have subresources of their own."""
    document["spec"] = old.get("spec") or {}
    document["status"] = old.get("status") or {}


def certificate_request_decided(document: Document, old: Document, now: int) -> None:
    """Conditions get the times that their writer left out."""
    before = (old.get("status") or {}).get("conditions") or ()
    for condition in (document.get("status") or {}).get("conditions") or ():
        if not condition.get("lastUpdateTime"):
            condition["lastUpdateTime"] = to_time(now)
        if not condition.get("lastTransitionTime"):
            same = [known for known in before if all(known.get(k) == condition.get(k) for k in ("type", "status"))]
            moved = same[0].get("lastTransitionTime") if same else None
            condition["lastTransitionTime"] = moved or to_time(now)
