"""extender: another program is asked over HTTP. Upstream: plugins/extender/extender.go.

The predicate is asked about every node that the plugins before it let pass, where upstream stops once it has found
enough nodes. The same question about a task and a node is sent once until a task is allocated or deallocated.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from http.client import HTTPException
from typing import Any

import numpy as np

from seatrial.model.documents import Document, decode, encode
from seatrial.model.durations import DurationError, parse_duration
from seatrial.model.errors import ConfigError
from seatrial.model.times import SECOND
from seatrial.scheduler.config import Extender as Address
from seatrial.scheduler.extender import TransportError
from seatrial.scheduler.framework import Code
from seatrial.volcano.cache.fit_errors import FitStatus, Severities, Statuses
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.node_columns import Floats, Rows
from seatrial.volcano.cache.queue_info import QueueInfo
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.extension_points import ABSTAIN, PERMIT, REJECT, Point
from seatrial.volcano.framework.plugin import Plugin, ScoringError
from seatrial.volcano.plugins.nodes.extender_arguments import NodeBodies, job_info, open_request, queue_info, task_info

MANAGED = "extender.managedResources"
DEFAULT_TIMEOUT = SECOND
NO_TIMEOUT = 24 * 3600 * SECOND
"""What a timeout of nothing means in practice."""
MAX_BODY = 10 << 20
Answer = tuple[list[TaskInfo], int]


class CallError(Exception):
    """The extender could not be reached, or its answer is none; the text is upstream's where it has one."""


class Extender(Plugin):
    """Sends tasks, nodes, jobs and queues to an endpoint and follows its answers."""

    name = "extender"

    def on_session_open(self) -> None:
        session = self.session
        self._url = self.arguments.text("extender.urlPrefix")
        self._ignorable = self.arguments.boolean("extender.ignorable", False)
        self._managed = self._managed_resources()
        self._timeout = self._http_timeout()
        self._transport = session.options.transport()
        self._nodes = NodeBodies(session.node_list)
        self._judged: dict[tuple[str, int], Statuses] = {}
        if self._verb("onSessionOpen"):
            try:
                self._send("onSessionOpen", open_request(session, self._nodes))
            except CallError:
                if not self._ignorable:
                    return
        if self._verb("predicate"):
            self.add_predicate(self)
        points: dict[str, tuple[Point, Callable[..., object]]] = {
            "prioritize": (Point.BATCH_NODE_ORDER, self._prioritize),
            "preemptable": (Point.PREEMPTABLE, lambda task, others: self._victims("preemptable", task, others)),
            "reclaimable": (Point.RECLAIMABLE, lambda task, others: self._victims("reclaimable", task, others)),
            "jobEnqueueable": (Point.JOB_ENQUEUEABLE, self._enqueueable),
            "jobEnqueued": (Point.JOB_ENQUEUED, self._enqueued),
            "queueOverused": (Point.OVERUSED, self._overused),
            "jobReady": (Point.JOB_READY, self._ready),
        }
        for verb, (point, fn) in points.items():
            if self._verb(verb):
                self.add(point, fn)
        session.subscribe(self)

    def on_session_close(self) -> None:
        if self._verb("onSessionClose"):
            with suppress(CallError):  # upstream logs it and goes on
                self._send("onSessionClose", {})
        close = getattr(self._transport, "close", None)
        if close is not None:
            close()

    # -- nodes -------------------------------------------------------------------------------------------------

    def severity(self, task: TaskInfo) -> Severities | None:
        """How unfit the nodes are that the plugins before this one let pass."""
        found = np.zeros(len(self.session.node_list), np.int8)
        for row, statuses in self._judge_all(task).items():
            found[row] = max(status.severity for status in statuses)
        return found

    def explain(self, task: TaskInfo) -> Callable[[int], Statuses]:
        found = self._judge_all(task)
        return lambda row: found.get(row, ())

    def _judge_all(self, task: TaskInfo) -> dict[int, Statuses]:
        if not self._is_interested(task):
            return {}
        passed = np.ones(len(self.session.node_list), np.bool_)
        for name, predicate in self.session.fns(Point.PREDICATE):
            if name == self.name:
                break
            severity = predicate.severity(task)
            if severity is not None:
                passed &= severity == 0
        judged = {row: self._judge(task, row) for row in np.flatnonzero(passed).tolist()}
        return {row: statuses for row, statuses in judged.items() if statuses}

    def _judge(self, task: TaskInfo, row: int) -> Statuses:
        known = self._judged.get((task.uid, row))
        if known is None:
            known = self._judged[task.uid, row] = self._asked(task, row)
        return known

    def _asked(self, task: TaskInfo, row: int) -> Statuses:
        node = self._nodes.node_info(self.session.node_list[row])
        try:
            answer = self._send("predicate", {"task": task_info(task), "node": node})
            reason, code = _field(answer, "status", str, ""), _field(answer, "code", int, 0)
        except CallError as error:
            return () if self._ignorable else (FitStatus(Code.ERROR, str(error)),)
        if not reason:
            return ()
        known = Code(code) if Code.SUCCESS < code <= Code.SKIP else Code.ERROR
        return (FitStatus(known, reason, self.name),)

    def _prioritize(self, task: TaskInfo, rows: Rows) -> Floats:
        if not self._is_interested(task):
            return np.zeros(len(rows))
        nodes = [self.session.node_list[row] for row in rows.tolist()]
        body = {"task": task_info(task), "nodes": [self._nodes.node_info(node) for node in nodes]}
        try:
            answer = self._send("prioritize", body)
            scores = _field(answer, "nodeScore", dict, None)
            error = _field(answer, "errorMessage", str, "")
            if scores is not None and not all(_is_number(score) for score in scores.values()):
                raise CallError("json: cannot unmarshal nodeScore into Go value of type float64")
        except CallError as failure:
            if self._ignorable:
                return np.zeros(len(rows))
            raise ScoringError(str(failure)) from failure
        if error or scores is None:
            raise ScoringError(error)
        return np.asarray([float(scores.get(node.name) or 0.0) for node in nodes])

    # -- victims, jobs and queues --------------------------------------------------------------------------------

    def _victims(self, verb: str, evictor: TaskInfo, evictees: Sequence[TaskInfo]) -> Answer:
        if not self._is_interested(evictor):
            return [], ABSTAIN
        body = {"evictor": task_info(evictor), "evictees": [task_info(task) for task in evictees]}
        try:
            answer = self._send(verb, body)
            listed, vote = _field(answer, "victims", list, []), _field(answer, "status", int, 0)
            uids = [_field(entry, "UID", str, "") for entry in listed]
        except CallError:
            return [], PERMIT if self._ignorable else REJECT
        known = {task.uid: task for task in evictees}
        return [known[uid] for uid in uids if uid in known], vote

    def _enqueueable(self, job: JobInfo) -> int:
        try:
            answer = self._send("jobEnqueueable", {"job": job_info(job)})
            vote: int = _field(answer, "status", int, 0)
        except CallError:
            return PERMIT if self._ignorable else REJECT
        return vote

    def _enqueued(self, job: JobInfo) -> None:
        with suppress(CallError):  # upstream logs it and goes on
            self._send("jobEnqueued", {"job": job_info(job)})

    def _overused(self, queue: QueueInfo) -> bool:
        return self._holds("queueOverused", {"queue": queue_info(queue)}, "overused")

    def _ready(self, job: JobInfo) -> bool:
        return self._holds("jobReady", {"job": job_info(job)}, "status")

    def _holds(self, verb: str, body: Document, field: str) -> bool:
        try:
            return bool(_field(self._send(verb, body), field, bool, False))
        except CallError:
            return not self._ignorable  # upstream's rule for both: an error counts as yes

    # -- events ------------------------------------------------------------------------------------------------

    def on_allocate(self, task: TaskInfo) -> bool | None:
        self._judged.clear()
        return self._tell("allocateFunc", task)

    def on_deallocate(self, task: TaskInfo) -> None:
        self._judged.clear()
        self._tell("deallocateFunc", task)

    def _tell(self, verb: str, task: TaskInfo) -> bool:
        """Sends an event; False where it failed and the failure counts."""
        if not self._verb(verb) or not self._is_interested(task):
            return True
        try:
            return not _field(self._send(verb, {"task": task_info(task)}), "errorMessage", str, "")
        except CallError:
            return self._ignorable

    # -- calls -------------------------------------------------------------------------------------------------

    def _send(self, verb: str, body: Document) -> Any:
        """The decoded answer to a question; nothing is read of the answers to the session's opening and closing."""
        action = self._verb(verb)
        url = f"{self._url.rstrip('/')}/{action}"
        try:
            code, answer = self._transport.post(Address(self._url), url, encode(body), self._timeout)
        except (TransportError, HTTPException, ValueError) as failure:
            raise CallError(f'Post "{url}": {failure}') from failure
        if code != 200:
            raise CallError(f"failed {action} with extender at URL {url}, code {code}")
        if verb in ("onSessionOpen", "onSessionClose"):
            return None
        if len(answer) > MAX_BODY:
            raise CallError("http: request body too large")
        if not answer.strip():
            raise CallError("EOF")
        try:
            return decode(answer)
        except ValueError as failure:
            raise CallError(str(failure)) from failure

    def _verb(self, name: str) -> str:
        if name == "jobEnqueued" and not self.session.conf.version.rules.tells_extenders_of_jobs_let_in:
            return ""
        return self.arguments.text(f"extender.{name}Verb")

    def _http_timeout(self) -> int:
        try:
            timeout = parse_duration(self.arguments.text("extender.httpTimeout"))
        except DurationError:
            return DEFAULT_TIMEOUT
        return timeout if timeout > 0 else NO_TIMEOUT

    def _managed_resources(self) -> frozenset[str]:
        given = self.arguments.get(MANAGED)
        if given is None:
            return frozenset()
        if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
            raise ConfigError("", f"plugin {self.name}: {MANAGED}", "expected a list of resource names")
        return frozenset(given)

    def _is_interested(self, task: TaskInfo) -> bool:
        """Whether the task names a managed resource; without managed resources every task counts."""
        if not self._managed:
            return True
        spec = task.pod.spec
        containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
        named = [part or {} for c in containers for part in map((c.get("resources") or {}).get, ("requests", "limits"))]
        return any(not self._managed.isdisjoint(part) for part in named)


def _field(answer: Any, name: str, kind: type, default: Any) -> Any:
    """A field as Go's decoder finds it: by name, whatever its case; null is no value, another type an error."""
    if answer is None:
        return default
    if not isinstance(answer, dict):
        raise CallError("json: cannot unmarshal the answer into a Go struct")
    value = answer.get(name)
    if name not in answer:
        value = next((given for key, given in answer.items() if key.lower() == name.lower()), None)
    if value is None:
        return default
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise CallError(f"json: cannot unmarshal field {name} into Go value of type {kind.__name__}")
    return value


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
