"""Measures a scheduler while it works, with a stopwatch that is handed in.

Only a server has a stopwatch: a simulated run pays nothing for durations that would be zero, nor for counts of its
attempts, which its timeline has and no client reads. Methods are wrapped where they are looked up, so that the
scheduler does not know of its meter.

Upstream: pkg/scheduler/framework/runtime/framework.go, backend/queue, eventhandlers.go (v1.36.3).
"""

from collections.abc import Callable, Collection, Iterator
from functools import wraps
from typing import Any

from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.framework.events import ClusterEvent, label_of
from seatrial.scheduler.framework.interface import Plugin
from seatrial.scheduler.framework.pre_bind import PreBindRun
from seatrial.scheduler.framework.runtime import Framework
from seatrial.scheduler.framework.status import SUCCESS, Status
from seatrial.scheduler.metrics.event_labels import event_labels
from seatrial.scheduler.metrics.scheduler_metrics import SchedulerMetrics
from seatrial.scheduler.schedule_one.batch import Batches, Batching, OpportunisticBatch
from seatrial.scheduler.schedule_one.schedule_one import Attempt

Stopwatch = Callable[[], float]
SAMPLE = 10
"""Plugins are measured in every tenth attempt."""
_POINT_METHODS = {
    "run_pre_filter": "PreFilter",
    "run_post_filter": "PostFilter",
    "run_reserve": "Reserve",
    "run_unreserve": "Unreserve",
    "run_permit": "Permit",
    "run_pre_bind_pre_flight": "PreBindPreFlight",
    "run_bind": "Bind",
    "run_post_bind": "PostBind",
}
_PLUGIN_METHODS = {
    "pre_enqueue": "PreEnqueue",
    "pre_filter": "PreFilter",
    "filter": "Filter",
    "post_filter": "PostFilter",
    "pre_score": "PreScore",
    "score": "Score",
    "normalize": "ScoreExtensionNormalize",
    "reserve": "Reserve",
    "unreserve": "Unreserve",
    "permit": "Permit",
    "pre_bind_pre_flight": "PreBindPreFlight",
    "pre_bind": "PreBind",
    "bind": "Bind",
    "post_bind": "PostBind",
}
_EVALUATED = {"preFilter": "PreFilter", "filter": "Filter", "preScore": "PreScore", "score": "Score"}
"""The points at which evaluations are counted."""


class Meter:
    """Fills the metrics that need a clock, or a closer look at an attempt."""

    def __init__(self, metrics: SchedulerMetrics, stopwatch: Stopwatch) -> None:
        self._metrics, self.now = metrics, stopwatch
        self._attempts = 0
        self._pre_score_seconds = 0.0
        self._is_sampling = False

    # Attempts.

    def begin(self) -> float:
        """A scheduling cycle begins; when."""
        self._is_sampling = self._attempts % SAMPLE == 0
        self._attempts += 1
        self._pre_score_seconds = 0.0
        return self.now()

    def scheduled(self, attempt: Attempt, start: float) -> None:
        """A scheduling cycle is over."""
        self._metrics.observe("scheduling_algorithm_duration_seconds", self.now() - start)
        self._is_sampling = False
        attempt.evaluations = tuple(_evaluations(attempt))
        self._count(attempt)

    def repeated(self, attempt: Attempt) -> None:
        """The outcome of an equal pod's attempt is repeated: counted as if the plugins had been asked again."""
        self._metrics.observe("scheduling_algorithm_duration_seconds", 0.0)
        points = [("PreFilter", attempt.pre_filter.status), ("Filter", SUCCESS if attempt.found is not None else None)]
        points.append(("PostFilter", attempt.post_filter.status if attempt.post_filter is not None else None))
        for point, status in points:
            if status is not None:
                name = "framework_extension_point_duration_seconds"
                self._metrics.observe(name, 0.0, point, status.code.text, attempt.framework.name)
        self._count(attempt)

    def _count(self, attempt: Attempt) -> None:
        evaluations = self._metrics["plugin_evaluation_total"]
        for plugin, point, count in attempt.evaluations:
            evaluations.inc(plugin, point, attempt.framework.name, by=count)
        self._metrics.post_filtered(attempt.post_filter)

    # Wrapping.

    def attach(
        self, frameworks: Collection[Framework], evaluator: Any, queue: Any, watcher: Any, table: NodeTable
    ) -> None:
        """Measure all parts of a scheduler."""
        names = [framework.name for framework in frameworks]
        for framework in frameworks:
            self.attach_framework(framework)
        self.attach_evaluator(evaluator)
        self.attach_queue(queue)
        self.attach_watcher(watcher, table, frozenset(names))

    def attach_framework(self, framework: Framework) -> None:
        """Measure the extension points of a profile."""
        for method, point in _POINT_METHODS.items():
            setattr(framework, method, self._timed(getattr(framework, method), point, framework.name))
        begin = framework.pre_bind

        def pre_bind(*given: Any) -> PreBindRun:
            run, start = begin(*given), self.now()
            name, observe = "framework_extension_point_duration_seconds", self._metrics.observe
            run.ended = lambda status: observe(name, self.now() - start, "PreBind", status.code.text, framework.name)
            return run

        setattr(framework, "pre_bind", pre_bind)  # noqa: B010
        evaluations = self._metrics["plugin_evaluation_total"]
        for point, shown in _EVALUATED.items():
            for plugin in framework.points.get(point, ()):
                evaluations.inc(plugin.name, shown, framework.name, by=0)

    def watch(self, plugin: Plugin) -> None:
        """Measure the methods of a plugin, before a profile looks them up."""
        for method, point in _PLUGIN_METHODS.items():
            found = getattr(plugin, method, None)
            if found is not None:
                setattr(plugin, method, self._sampled(found, plugin.name, point))

    def attach_evaluator(self, evaluator: Any) -> None:
        """Measure the search for feasible nodes, and their scores."""
        feasible, totals, observe = evaluator.feasible, evaluator.totals, self._metrics.observe

        def timed_feasible(framework: Framework, *given: Any) -> Any:
            start = self.now()
            found = feasible(framework, *given)
            code = "Success" if found.error is None else "Error"
            name = "framework_extension_point_duration_seconds"
            observe(name, self.now() - start, "Filter", code, framework.name)
            return found

        def timed_totals(found: Any, *given: Any) -> Any:
            start = self.now()
            scored = totals(found, *given)
            seconds, name = self.now() - start, "framework_extension_point_duration_seconds"
            code, profile = "Success" if scored.error is None else "Error", found.framework.name
            observe(name, self._pre_score_seconds, "PreScore", "Success", profile)
            observe(name, max(0.0, seconds - self._pre_score_seconds), "Score", code, profile)
            return scored

        evaluator.feasible, evaluator.totals = timed_feasible, timed_totals

    def attach_batches(self, batches: Batches) -> None:
        """Measure the signing of pods, and what batching costs."""
        for profile, signer in batches.signers.items():
            setattr(signer, "sign", self._timed(signer.sign, "Sign", profile))  # noqa: B010
            if signer.signers is not None:
                signer.signers = {name: self._measured(one, name, "Sign") for name, one in signer.signers.items()}
        for batch in batches.batches.values():
            self._attach_batch(batch)

    def _attach_batch(self, batch: OpportunisticBatch) -> None:
        hint, store, observe = batch.node_hint, batch.store_results, self._metrics.observe

        def timed_hint(*given: Any) -> str:
            start = self.now()
            node = hint(*given)
            name, label = "get_node_hint_duration_seconds", "hint" if node else "no_hint"
            observe(name, self.now() - start, label, batch.profile)
            return node

        def timed_store(*given: Any) -> None:
            start = self.now()
            store(*given)
            observe("store_schedule_results_duration_seconds", self.now() - start, batch.profile)

        setattr(batch, "node_hint", timed_hint)  # noqa: B010
        setattr(batch, "store_results", timed_store)  # noqa: B010

    def attach_queue(self, queue: Any) -> None:
        """Count what comes into the queue, and measure PreEnqueue and queueing hints."""
        count, passes = self._metrics["queue_incoming_pods_total"], queue.passes_gates
        queue.on_incoming = count.inc
        queue.hinting.wrap = self._timed_hint

        def passes_gates(queued: Any) -> bool:
            start = self.now()
            passed: bool = passes(queued)
            profile, name = queued.pod.shape.scheduler_name, "framework_extension_point_duration_seconds"
            # Upstream reports success for pods that are held back, too.
            self._metrics.observe(name, self.now() - start, "PreEnqueue", "Success", profile)
            return passed

        queue.passes_gates = passes_gates

    def attach_watcher(self, watcher: Any, table: NodeTable, profiles: frozenset[str]) -> None:
        """Measure how long events of the cluster take."""
        take_in = watcher.take_in

        def seen(stored: Any) -> Any:
            if stored.kind.kind == "Pod":
                return watcher.pods.get(f"{stored.namespace}/{stored.name}")
            return table.find(stored.name) if stored.kind.kind == "Node" else None

        def timed(change: Any) -> None:
            before, start = seen(change.stored), self.now()
            take_in(change)
            seconds = self.now() - start
            for label in event_labels(change.stored.kind.kind, change.type, before, seen(change.stored), profiles):
                self._metrics.observe("event_handling_duration_seconds", seconds, label)

        watcher.take_in = timed

    def _timed(self, method: Callable[..., Any], point: str, profile: str) -> Callable[..., Any]:
        name, observe = "framework_extension_point_duration_seconds", self._metrics.observe

        @wraps(method)
        def call(*given: Any) -> Any:
            start = self.now()
            answer = method(*given)
            observe(name, self.now() - start, point, _code(answer), profile)
            return answer

        return call

    def _measured(self, method: Callable[..., Any], plugin: str, point: str) -> Callable[..., Any]:
        """A plugin that is measured every time."""
        name, observe = "plugin_execution_duration_seconds", self._metrics.observe

        def call(*given: Any) -> Any:
            start = self.now()
            answer = method(*given)
            observe(name, self.now() - start, plugin, point, _code(answer))
            return answer

        return call

    def _sampled(self, method: Callable[..., Any], plugin: str, point: str) -> Callable[..., Any]:
        name, observe, is_pre_score = "plugin_execution_duration_seconds", self._metrics.observe, point == "PreScore"

        @wraps(method)
        def call(*given: Any) -> Any:
            if not self._is_sampling and not is_pre_score:
                return method(*given)
            start = self.now()
            answer = method(*given)
            seconds = self.now() - start
            if is_pre_score:
                self._pre_score_seconds += seconds
            if self._is_sampling:
                observe(name, seconds, plugin, point, _code(answer))
            return answer

        return call

    def _timed_hint(self, plugin: str, event: ClusterEvent, hint: Callable[..., bool] | None) -> Callable[..., bool]:
        name, label, observe = "queueing_hint_execution_duration_seconds", label_of(event), self._metrics.observe

        def call(*given: Any) -> bool:
            start = self.now()
            answer = hint is None or hint(*given)
            observe(name, self.now() - start, plugin, label, "Queue" if answer else "QueueSkip")
            return answer

        return call


def _code(answer: Any) -> str:
    """The status of an answer: itself, its first part, or one of its fields; anything else is a success."""
    if isinstance(answer, tuple) and answer:
        answer = answer[0]
    status = answer if isinstance(answer, Status) else getattr(answer, "status", None)
    return (status if isinstance(status, Status) else SUCCESS).code.text


def _evaluations(attempt: Attempt) -> Iterator[tuple[str, str, int]]:
    """Which plugins were asked at which point, and how often; dry runs of preemption are not counted."""
    pre, framework = attempt.pre_filter, attempt.framework
    for name in pre.ran:
        if name not in pre.cycle.skipped:
            yield name, "PreFilter", 1
    if isinstance(attempt.batching, Batching) and attempt.batching.checked is not None:
        yield from _filtered(attempt, 1, [attempt.batching.checked.status(0).plugin])
    if attempt.found is not None:
        codes, statuses = attempt.found.explain()
        counted = codes.tolist()
        yield from _filtered(attempt, len(counted), [statuses[code - 1].plugin for code in counted if code])
    if attempt.scored is not None:
        for name in attempt.scored.ran:
            if name not in attempt.scored.skipped:
                yield name, "PreScore", 1
        for scorer in framework.scorers:
            if scorer.name not in attempt.scored.skipped:
                yield scorer.name, "Score", attempt.feasible_count


def _filtered(attempt: Attempt, nodes: int, failed: list[str]) -> Iterator[tuple[str, str, int]]:
    """How often each filter was called for a number of nodes, of which the named plugins rejected some."""
    for call in attempt.framework.filters:
        if call.name not in attempt.cycle.skipped:
            yield call.name, "Filter", nodes
            nodes -= failed.count(call.name)
