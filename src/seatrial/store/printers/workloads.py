"""Printer columns of workloads: deployments, replica sets, jobs and similar kinds.

Upstream: pkg/printers/internalversion/printers.go.
"""

from typing import Any

from seatrial.model.documents import Document
from seatrial.store.printers.cells import (
    NONE,
    UNSET,
    age,
    at,
    between,
    containers,
    items,
    labels_text,
    name,
    number,
    selector_text,
    since,
    text,
)
from seatrial.store.printers.columns import columns

JOB_STATES = (
    ("Suspended", "Suspended"),
    ("FailureTarget", "FailureTarget"),
    ("SuccessCriteriaMet", "SuccessCriteriaMet"),
)
MOST_METRICS = 2


def deployment_cells(obj: Document, now: int) -> list[Any]:
    ready = f"{number(obj, 'status', 'readyReplicas')}/{number(obj, 'spec', 'replicas')}"
    updated, available = number(obj, "status", "updatedReplicas"), number(obj, "status", "availableReplicas")
    return [name(obj), ready, updated, available, age(obj, now), *_wide(obj)]


def replica_set_cells(obj: Document, now: int) -> list[Any]:
    current, ready = number(obj, "status", "replicas"), number(obj, "status", "readyReplicas")
    return [name(obj), number(obj, "spec", "replicas"), current, ready, age(obj, now), *_wide(obj)]


def replication_controller_cells(obj: Document, now: int) -> list[Any]:
    return [*replica_set_cells(obj, now)[:-1], labels_text(at(obj, "spec", "selector"))]


def stateful_set_cells(obj: Document, now: int) -> list[Any]:
    ready = f"{number(obj, 'status', 'readyReplicas')}/{number(obj, 'spec', 'replicas')}"
    return [name(obj), ready, age(obj, now), *_wide(obj)[:2]]


def daemon_set_cells(obj: Document, now: int) -> list[Any]:
    counts = [
        number(obj, "status", f"{what}")
        for what in (
            "desiredNumberScheduled",
            "currentNumberScheduled",
            "numberReady",
            "updatedNumberScheduled",
            "numberAvailable",
        )
    ]
    selector = labels_text(at(obj, "spec", "template", "spec", "nodeSelector"))
    return [name(obj), *counts, selector, age(obj, now), *_wide(obj)]


def job_cells(obj: Document, now: int) -> list[Any]:
    succeeded, wanted = number(obj, "status", "succeeded"), at(obj, "spec", "completions")
    completions = f"{succeeded}/{wanted if wanted is not None else 1}"
    parallelism = number(obj, "spec", "parallelism")
    if wanted is None and parallelism > 1:
        completions += f" of {parallelism}"
    start, end = at(obj, "status", "startTime"), at(obj, "status", "completionTime")
    duration = (between(start, end) if end else since(start, now)) if start else ""
    return [name(obj), _job_status(obj), completions, duration, age(obj, now), *_wide(obj)]


def _job_status(obj: Document) -> str:
    true = {c.get("type") for c in items(obj, "status", "conditions") if c.get("status") == "True"}
    if "Complete" in true:
        return "Complete"
    if "Failed" in true:
        return "Failed"
    if at(obj, "metadata", "deletionTimestamp"):
        return "Terminating"
    return next((status for type, status in JOB_STATES if type in true), "Running")


def cron_job_cells(obj: Document, now: int) -> list[Any]:
    suspend = {True: "True", False: "False"}.get(at(obj, "spec", "suspend"), UNSET)
    last = at(obj, "status", "lastScheduleTime")
    template = at(obj, "spec", "jobTemplate", "spec") or {}
    names, images = containers(at(template, "template", "spec"))
    return [
        name(obj),
        text(obj, "spec", "schedule"),
        text(obj, "spec", "timeZone", absent=NONE),
        suspend,
        len(items(obj, "status", "active")),
        since(last, now) if last else NONE,
        age(obj, now),
        names,
        images,
        selector_text(at(template, "selector")),
    ]


def budget_cells(obj: Document, now: int) -> list[Any]:
    least, most = at(obj, "spec", "minAvailable"), at(obj, "spec", "maxUnavailable")
    allowed = number(obj, "status", "disruptionsAllowed")
    return [
        name(obj),
        "N/A" if least is None else str(least),
        "N/A" if most is None else str(most),
        allowed,
        age(obj, now),
    ]


def autoscaler_cells(obj: Document, now: int) -> list[Any]:
    reference = f"{text(obj, 'spec', 'scaleTargetRef', 'kind')}/{text(obj, 'spec', 'scaleTargetRef', 'name')}"
    return [
        name(obj),
        reference,
        _targets(obj),
        text(obj, "spec", "minReplicas", absent=UNSET),
        number(obj, "spec", "maxReplicas"),
        number(obj, "status", "currentReplicas"),
        age(obj, now),
    ]


def _targets(obj: Document) -> str:
    specs, statuses = items(obj, "spec", "metrics"), items(obj, "status", "currentMetrics")
    if not specs:
        share = at(obj, "spec", "targetCPUUtilizationPercentage")
        if share is None:
            return NONE
        return f"cpu: {_percent(at(obj, 'status', 'currentCPUUtilizationPercentage'), '<unknown>')}/{share}%"
    texts = [_target(spec, statuses[i] if i < len(statuses) else {}) for i, spec in enumerate(specs)]
    more = f" + {len(texts) - MOST_METRICS} more..." if len(texts) > MOST_METRICS else ""
    return ", ".join(texts[:MOST_METRICS]) + more


def _target(spec: Document, status: Document) -> str:
    type = text(spec, "type")
    key = type[:1].lower() + type[1:]
    target, current = at(spec, key, "target"), at(status, key, "current")
    average, unknown = text(target, "averageValue"), "<unknown>"
    if type in ("External", "Object"):
        if average:
            return f"{text(current, 'averageValue', absent=unknown)}/{average} (avg)"
        return f"{text(current, 'value', absent=unknown)}/{text(target, 'value')}"
    if type == "Pods":
        return f"{text(current, 'averageValue', absent=unknown)}/{average}"
    if type not in ("Resource", "ContainerResource"):
        return "<unknown type>"
    label = text(spec, key, "name")
    if average:
        return f"{label}: {text(current, 'averageValue', absent=unknown)}/{average}"
    now = _percent(at(current, "averageUtilization"), unknown)
    return f"{label}: {now}/{_percent(at(target, 'averageUtilization'), '<auto>')}"


def _percent(value: Any, absent: str) -> str:
    return f"{value}%" if value is not None else absent


def revision_cells(obj: Document, now: int) -> list[Any]:
    owner = next((o for o in items(obj, "metadata", "ownerReferences") if o.get("controller")), None)
    controller = NONE
    if owner is not None:
        group = text(owner, "apiVersion").rpartition("/")[0]
        kind = f"{owner.get('kind', '')}.{group}" if group else str(owner.get("kind", ""))
        controller = f"{kind.lower()}/{owner.get('name', '')}"
    return [name(obj), controller, number(obj, "revision"), age(obj, now)]


def pod_template_cells(obj: Document, now: int) -> list[Any]:
    names, images = containers(at(obj, "template", "spec"))
    return [name(obj), names, images, labels_text(at(obj, "template", "metadata", "labels"))]


def _wide(obj: Document) -> list[Any]:
    return [*containers(at(obj, "spec", "template", "spec")), selector_text(at(obj, "spec", "selector"))]


REPLICAS = columns("Name Desired:integer Current:integer Ready:integer Age +Containers +Images +Selector")
