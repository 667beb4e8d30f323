"""Runs a workload: a store with the objects of an empty cluster, the default scheduler, and a stopwatch.

The stopwatch runs from the pop of a measured pod to its binding in the store and counts CPU time of this process, so
that other load on the machine does not show. The store has no watchers, decisions are not recorded, and Events are
reported only with `events=True`, which measures their cost.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from seatrial.bench import workloads
from seatrial.bench.workloads import Barrier, Churn, CreateAny, CreateNamespaces, CreateNodes, CreatePods, Workload
from seatrial.model.documents import Document
from seatrial.model.errors import SeatrialError
from seatrial.model.times import MILLISECOND, SECOND
from seatrial.model.writers import user_writer
from seatrial.scenario import fresh_store
from seatrial.scheduler import Scheduler
from seatrial.scheduler.config import default_configuration
from seatrial.scheduler.versions import DEFAULT, Version
from seatrial.simulation import tune_collector

WRITER = user_writer("bench")
GROUP = "group"


@dataclass(frozen=True, slots=True)
class Timing:
    """What a workload came to."""

    pods: int
    """measured pods that were bound"""
    seconds: float
    attempts: int
    rows_evaluated: int
    """rows of the node table that plugins were asked about"""

    @property
    def rate(self) -> float:
        return self.pods / self.seconds if self.seconds else 0.0


class WorkloadRun:
    """A cluster to which the steps of a workload happen."""

    def __init__(self, version: Version = DEFAULT, *, events: bool = False) -> None:
        self.store = fresh_store(watched=False)  # as that of `seatrial run`
        self.clock = self.store.clock
        self.scheduler = Scheduler(self.store, self.clock, default_configuration(version), events=events)
        self.nodes: list[str] = []
        self._pods = 0
        self._seconds = 0.0
        self._measured = self._attempts = self._rows = 0
        self._around: Callable[[Callable[[], None]], None] = lambda work: work()

    def run(self, workload: Workload, around: Callable[[Callable[[], None]], None] | None = None) -> Timing:
        """Take all steps; `around` may wrap the measured part, e.g. in a profiler."""
        self._around = around or self._around
        self.scheduler.start()
        self.run_steps(workload)
        return Timing(self._measured, self._seconds, self._attempts, self._rows)

    def run_steps(self, workload: Workload) -> None:
        """Take all steps, whether or not the scheduler has started."""
        for step in workload.steps:
            match step:
                case CreateNodes():
                    self._create_nodes(step)
                case CreateNamespaces():
                    for number in range(step.count):
                        name = f"{step.prefix}-{number}"
                        self._create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
                case CreateAny():
                    self._create(step.object)
                case CreatePods():
                    self._create_pods(step)
                case Churn():
                    self._churn(step)
                case Barrier():
                    self._settle()

    def _create_nodes(self, step: CreateNodes) -> None:
        text = workloads.template(step.template)
        document = workloads.made_from(text)
        for number in range(step.count):
            name = f"node-{len(self.nodes):06}"
            labels = {"kubernetes.io/hostname": name}
            if step.zones:
                labels["topology.kubernetes.io/zone"] = step.zones[number % len(step.zones)]
            document["metadata"] = {"name": name, "labels": labels}
            self.nodes.append(name)
            self._create(document)

    def _create_pods(self, step: CreatePods) -> None:
        text = workloads.template(step.template)
        groups = [workloads.made_from(text, **{GROUP: number}) for number in range(step.groups)]
        for number in range(step.count):
            document = groups[number % step.groups]
            if step.on_nodes:
                spec = {**document["spec"], "nodeName": self.nodes[number % len(self.nodes)]}
                document = {**document, "spec": spec}
            self._create_pod(document, step.namespace)
        if step.measured:
            self._measure(step)

    def _create_pod(self, document: Document, namespace: str) -> str:
        name = f"pod-{self._pods:07}"
        self._pods += 1
        metadata = {**document["metadata"], "name": name, "namespace": namespace}
        self._create({**document, "metadata": metadata})
        return name

    def _create(self, document: Document) -> None:
        kind = self.store.kinds.named(document["apiVersion"], document["kind"])
        if kind is None:
            raise SeatrialError(f"{document['apiVersion']} {document['kind']} is not served")
        namespace = document["metadata"].get("namespace", "")
        self.store.create(kind, document, writer=WRITER, namespace=namespace)

    def _churn(self, step: Churn) -> None:
        document = workloads.made_from(workloads.template(step.template))
        interval = step.interval_milliseconds * MILLISECOND

        def come() -> None:
            self._create_pod(document, step.namespace)
            self.clock.after(interval, come, outer=True)

        self.clock.after(interval, come, outer=True)

    def _settle(self) -> None:
        while self.scheduler.has_work():
            self.scheduler.schedule_one()

    def _measure(self, step: CreatePods) -> None:
        """Schedule what is pending; the pods of the step were made last, and only they are counted."""
        first = f"pod-{self._pods - step.count:07}"
        last = f"pod-{self._pods - 1:07}"
        rows = self.scheduler.algorithm.rows_evaluated
        tune_collector()
        self._around(partial(self._time, step, first, last))
        self._rows += self.scheduler.algorithm.rows_evaluated - rows
        if self._measured < step.count:
            raise SeatrialError(f"only {self._measured} of {step.count} measured pods were scheduled")

    def _time(self, step: CreatePods, first: str, last: str) -> None:
        pace = SECOND // step.per_virtual_second if step.per_virtual_second else 0
        scheduler, prefix = self.scheduler, f"{step.namespace}/"
        bound = attempts = 0
        begin = time.process_time()
        while scheduler.has_work():
            decision = scheduler.schedule_one()
            attempts += 1
            if decision is None or not decision.node:
                continue
            if first <= decision.pod.removeprefix(prefix) <= last:
                bound += 1
                if bound == step.count:
                    break
                if pace:
                    self._seconds += time.process_time() - begin
                    self._let_pass(pace)
                    begin = time.process_time()
        self._seconds += time.process_time() - begin
        self._measured += bound
        self._attempts += attempts

    def _let_pass(self, duration: int) -> None:
        """Virtual time goes on, and what is due comes."""
        until = self.clock.now() + duration
        while (due := _earliest(self.clock.next_inner(), self.clock.next_outer())) is not None and due <= until:
            self.clock.fire_next(outer=True)
        self.clock.advance(until)


def _earliest(first: int | None, second: int | None) -> int | None:
    return min((when for when in (first, second) if when is not None), default=None)
