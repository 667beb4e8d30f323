"""The state of a session right after it opened, in the words of the recording: orders, votes and scores."""

from functools import cmp_to_key
from typing import Any

import numpy as np

from seatrial.model.documents import Document
from seatrial.volcano.cache import JobInfo, TaskInfo, TaskStatus
from seatrial.volcano.framework import Point, Session

MOST_TASKS = 3
"""Tasks of a job whose scores were recorded."""


def probe(session: Session) -> Document:
    """Everything that was recorded of a session before its actions."""
    by_queue: dict[str, list[JobInfo]] = {}
    for job in session.jobs.values():
        by_queue.setdefault(job.queue, []).append(job)
    queues = _sorted([session.queues[name] for name in sorted(by_queue)], session.queue_order)
    out: Document = {
        "queueOrder": [queue.name for queue in queues],
        "overused": {queue.name: bool(session.overused(queue)) for queue in queues},
        "jobOrder": {q.name: [job.uid for job in _sorted(by_queue[q.name], session.job_order)] for q in queues},
        "jobStarving": {uid: session.job_starving(job) for uid, job in session.jobs.items()},
        "jobReady": {uid: session.job_ready(job) for uid, job in session.jobs.items()},
        "jobPriority": {uid: job.priority for uid, job in session.jobs.items()},
        "taskOrder": {},
        "scores": [],
    }
    invalid = {uid: found.reason for uid, job in session.jobs.items() if (found := session.job_valid(job))}
    if invalid:
        out["jobInvalid"] = invalid
    for uid, job in session.jobs.items():
        pending = _sorted(job.index.listed(TaskStatus.PENDING), session.task_order)
        if pending:
            out["taskOrder"][uid] = [task.name for task in pending]
            out["scores"].extend(_scores(session, task) for task in _distinct(pending))
    return out


def _sorted(items: list[Any], less: Any) -> list[Any]:
    """A stable sort by a `less`."""
    return sorted(items, key=cmp_to_key(lambda a, b: -1 if less(a, b) else int(less(b, a))))


def _distinct(tasks: list[TaskInfo]) -> list[TaskInfo]:
    """The first tasks that differ in role, request, or how they choose nodes."""
    found: dict[Any, TaskInfo] = {}
    for task in tasks:
        spec = task.pod.spec
        selector = tuple(sorted((spec.get("nodeSelector") or {}).items()))
        tolerations = len(spec.get("tolerations") or ())
        key = (task.role, repr(task.resreq), selector, spec.get("affinity") is not None, tolerations)
        if key not in found and len(found) < MOST_TASKS:
            found[key] = task
    return list(found.values())


def _scores(session: Session, task: TaskInfo) -> Document:
    out: Document = {"task": task.key}
    error = session.pre_predicate(task)
    if error:
        return out | {"prePredicateError": error}
    severity = session.severity_to_allocate(task)
    judged = session.judge_to_allocate(task)
    names = [node.name for node in session.node_list]
    unfit = {}
    for row in np.flatnonzero(severity).tolist():
        short = session.columns.short(task.resreq, session.columns.future, row)
        reasons = ", ".join(status.reason for status in judged.statuses(row))
        text = f"task {task.key} on node {names[row]} fit failed: {reasons}"
        unfit[names[row]] = f"Insufficient {','.join(sorted(short))}" if short else text
    rows = np.flatnonzero(severity == 0)
    idle = session.fits_idle(task)[rows]
    if unfit:
        out["unfit"] = unfit
    if idle.any():
        out["fitsIdle"] = [names[row] for row in rows[idle].tolist()]
    if len(rows):
        order, batch = session.node_scores(task, rows), session.batch_scores(task, rows)
        fitting = [names[row] for row in rows.tolist()]
        out["nodeOrder"] = dict(zip(fitting, order.tolist(), strict=True))
        if session.fns(Point.BATCH_NODE_ORDER):
            out["batchNodeOrder"] = dict(zip(fitting, batch.tolist(), strict=True))
        out["total"] = dict(zip(fitting, session.scores(task, rows).tolist(), strict=True))
    return out
