"""Replays recorded sessions of Volcano and says what came out, field by field as it was recorded.

Of nodes with equal scores the first by name is taken, as in the recording.
Of queue metrics cpu and memory are compared.
"""

from copy import deepcopy
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.times import parse_time
from seatrial.scheduler.cache import PodReader
from seatrial.verify.comparing import first_difference
from seatrial.verify.recorded_cluster import World
from seatrial.verify.volcano_extender import ScriptedExtender
from seatrial.verify.volcano_probe import probe
from seatrial.volcano import open_session, run_once
from seatrial.volcano.cache import ClusterInfo, Numatopologies, TaskStatus, read_tasks, take_snapshot
from seatrial.volcano.config import SchedulerConf, load_conf
from seatrial.volcano.framework import Session, SessionOptions, SessionResult
from seatrial.volcano.versions import find_version

NOW = parse_time("2026-08-20T00:00:00Z")
"""The time of the recordings; only waiting times of jobs depend on it, and those are seconds or decades."""

_OTHERS = (
    "resourceQuotas",
    "podDisruptionBudgets",
    "persistentVolumes",
    "persistentVolumeClaims",
    "storageClasses",
    "csiNodes",
    "configMaps",
)
_ORIGIN = ". Origin reason is "


def volcano_difference(case: Document, expect: Document) -> str | None:
    """The first difference between a recorded session and its replay."""
    actual = _as_compared(replay_volcano(case, with_probe="probe" in expect))
    if not case.get("annotations"):
        for cycle in actual["cycles"]:
            cycle.pop("annotations", None)
    if case.get("dice"):
        for document in (expect := deepcopy(expect), actual):
            _without_origins(document)
    return first_difference(expected_of(expect), actual)


def _without_origins(document: Document) -> None:
    """Takes one task's reason out of messages about a job: of a recording with dice it is that of any task."""
    for cycle in document["cycles"]:
        for group in cycle["podgroups"].values():
            for condition in group.get("conditions") or ():
                condition["Message"] = condition["Message"].partition(_ORIGIN)[0]
        for event in cycle.get("events") or ():
            place = "Message" if isinstance(event, dict) else -1
            event[place] = event[place].partition(_ORIGIN)[0]


def replay_volcano(case: Document, *, with_probe: bool = True, keeps_columns: bool = True) -> Document:
    """Runs a case from its manifests, cycle by cycle."""
    conf = load_conf(case["conf"], case["name"], version=find_version(case.get("version", "")))
    case = deepcopy(case)
    out: Document = {"cycles": []}
    if with_probe:
        session = open_session("probe", _snapshot(case), conf, _options(case, keeps_columns))
        out["probe"] = probe(session)
    for number in range(max(case.get("cycles") or 1, 1)):
        cycle = _cycle(case, conf, number, keeps_columns)
        out["cycles"].append(cycle)
        _apply(case, cycle)
    return out


def _snapshot(case: Document) -> ClusterInfo:
    reader = PodReader()
    others = [entry for kind in _OTHERS for entry in case.get(kind) or ()]
    numatopologies = Numatopologies()
    for document in case.get("numatopologies") or ():
        numatopologies.report(document)
    world = World(others, [])
    return take_snapshot(
        case["nodes"],
        read_tasks(case["pods"], reader, world),
        case["podgroups"],
        case["queues"],
        case.get("priorityClasses") or (),
        case.get("hyperNodes") or (),
        world,
        NOW,
        numatopologies,
    )


def _cycle(case: Document, conf: SchedulerConf, number: int, keeps_columns: bool) -> Document:
    session, result = run_once(f"cycle-{number}", _snapshot(case), conf, _options(case, keeps_columns))
    return _written(session, result)


def _options(case: Document, keeps_columns: bool) -> SessionOptions:
    """The recorded process had run before, so that rescheduling was due."""
    options = SessionOptions(keeps_columns, memory={"rescheduling": 0})
    if "extender" in case:
        options.transport = lambda: ScriptedExtender(case["extender"])
    return options


def _written(session: Session, result: SessionResult) -> Document:
    """A cycle in the words of the recording."""
    placed: dict[TaskStatus, dict[str, str]] = {status: {} for status in TaskStatus}
    for job in session.jobs.values():
        for task in job.index:
            placed[task.status][task.key] = task.node_name
    groups = {}
    for uid, job in session.jobs.items():
        group: Document = {"phase": job.pod_group.phase}
        for name in ("Running", "Succeeded", "Failed"):
            group[name] = job.pod_group.counts.get(name.lower(), 0)
        conditions = job.pod_group.conditions
        if conditions:
            group["conditions"] = [
                {key: c[key.lower()] for key in ("Type", "Status", "Reason", "Message")} for c in conditions
            ]
        if job.allocated_hyper_node:
            group["allocatedHyperNode"] = job.allocated_hyper_node
        groups[uid] = group
    return _nonempty(
        allocatedNotBound=placed[TaskStatus.ALLOCATED],
        nominated=_nominated(result),
        annotations=_annotations(result),
    ) | {
        "binds": placed[TaskStatus.BINDING],
        "pipelined": placed[TaskStatus.PIPELINED],
        "evicted": {task.key: reason for task, reason in result.evictions},
        "podgroups": groups,
        "queueAllocated": result.queues,
        "queueMetrics": _without_scalars(session.queue_metrics()),
        "events": sorted((e.kind, e.key, e.type, e.reason, _text(e.message)) for e in result.events),
    }


def _nominated(result: SessionResult) -> dict[str, str]:
    """The nominations of the pods whose status was written, old ones included."""
    found = {update.task.key: update.nomination for update in result.pods}
    return {key: node for key, node in found.items() if node}


def _annotations(result: SessionResult) -> dict[str, dict[str, str]]:
    """What plugins note on the pods that are bound; times are left out."""
    found = {}
    for task in result.binds:
        before = task.pod.annotations
        notes = {key: value for key, value in task.pod_annotations.items() if not key.endswith("-time")}
        found[task.key] = {key: value for key, value in notes.items() if before.get(key) != value}
    return {key: notes for key, notes in found.items() if notes}


def _apply(case: Document, cycle: Document) -> None:
    """The state the next cycle starts from: victims are gone, bound pods run."""
    kept = []
    for pod in case["pods"]:
        metadata = pod["metadata"]
        key = f"{metadata.get('namespace', 'default')}/{metadata['name']}"
        if key in cycle["evicted"] or metadata.get("deletionTimestamp"):
            continue
        status = pod.setdefault("status", {})
        if key in cycle["binds"]:
            pod["spec"]["nodeName"] = cycle["binds"][key]
            status["phase"] = "Running"
            status.pop("nominatedNodeName", None)
            metadata.setdefault("annotations", {}).update(cycle.get("annotations", {}).get(key, {}))
        elif key in cycle.get("nominated", {}) and not pod["spec"].get("nodeName"):
            status["nominatedNodeName"] = cycle["nominated"][key]
        kept.append(pod)
    case["pods"] = kept
    for group in case["podgroups"]:
        metadata = group["metadata"]
        found = cycle["podgroups"].get(f"{metadata.get('namespace', 'default')}/{metadata['name']}")
        if found is not None:
            counts = {name.lower(): found[name] for name in ("Running", "Succeeded", "Failed")}
            group.setdefault("status", {}).update(phase=found["phase"], **counts)


def expected_of(expect: Document) -> Document:
    """The recorded answer with what is compared, and as it is compared."""
    expect = {"cycles": [_expected_cycle(cycle) for cycle in expect["cycles"]]} | _nonempty(probe=expect.get("probe"))
    compared: Document = _as_compared(expect)
    return compared


def _expected_cycle(cycle: Document) -> Document:
    events = sorted(_event(event) for event in cycle.get("events") or ())
    metrics = _without_scalars(cycle.get("queueMetrics") or {})
    kept = {name: value for name, value in cycle.items() if value or name not in ("nominated", "allocatedNotBound")}
    return kept | {"events": events, "queueMetrics": metrics}


def _without_scalars(metrics: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Metrics of queues as they are compared: the recording has scalar resources of the cases before."""
    return {
        queue: {name: value for name, value in found.items() if "scalar" not in name}
        for queue, found in metrics.items()
    }


def _event(event: Document) -> tuple[str, str, str, str, str]:
    kind, _, key = event["Object"].partition("/")
    return kind, key, event["Type"], event["Reason"], _text(event["Message"])


def _text(message: str) -> str:
    """A message without what depends on the random order of a map, or is Go's print of a structure."""
    if " In hyperNode " in message:
        message = message.partition(_ORIGIN)[0]
    return "resource quota insufficient" if message.startswith("resource quota insufficient") else message


def _as_compared(value: Any) -> Any:
    """Numbers as floats and tuples as lists, since the recording does not tell them apart."""
    if isinstance(value, dict):
        return {key: _as_compared(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_as_compared(entry) for entry in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _nonempty(**fields: Any) -> Document:
    return {name: value for name, value in fields.items() if value}
