"""DefaultPreemption: makes room for a pod by evicting pods of lower priority from one node.

The plugin checks eligibility and picks the candidates; victims on a node are selected in
`scheduler/preemption/select_victims.py`, and `scheduler/preemption/executor.py` evicts them.
Upstream: pkg/scheduler/framework/plugins/defaultpreemption (v1.36).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from seatrial.model.documents import Document
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.row_names import NodeNames
from seatrial.scheduler.config.arguments import Arguments, Gates
from seatrial.scheduler.config.field_errors import invalid
from seatrial.scheduler.config.shapes import INT32, pointer
from seatrial.scheduler.framework.interface import Action, Handle, Plugin, PostFiltered, Rejections, requeue
from seatrial.scheduler.framework.runtime import CycleState
from seatrial.scheduler.framework.status import SUCCESS, Code, Status, error, unresolvable, unschedulable
from seatrial.scheduler.preemption.candidates import best_candidates
from seatrial.scheduler.preemption.dry_run_cache import DryRun, DryRunCache
from seatrial.scheduler.preemption.select_victims import Evaluator
from seatrial.scheduler.schedule_one.extenders import ExtenderFailed, Extenders
from seatrial.scheduler.schedule_one.fit_error import fit_error

NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."
NOT_HELPFUL = "Preemption is not helpful for scheduling"
WAITING = "waiting for the preemption for this pod to be finished"
IN_FLIGHT = "preempting"
"""Where the handle's `shared` keeps the pods whose victims are being deleted, by uid."""


def _defaults(args: Document, gates: Gates) -> None:
    args.setdefault("minCandidateNodesPercentage", 10)
    args.setdefault("minCandidateNodesAbsolute", 100)


def _problems(args: Document, path: str, gates: Gates) -> Iterator[str]:
    percentage, absolute = args["minCandidateNodesPercentage"], args["minCandidateNodesAbsolute"]
    percentage_path, absolute_path = f"{path}.minCandidateNodesPercentage", f"{path}.minCandidateNodesAbsolute"
    if not 0 <= percentage <= 100:
        yield invalid(percentage_path, percentage, "not in valid range [0, 100]")
    if absolute < 0:
        yield invalid(absolute_path, absolute, "not in valid range [0, inf)")
    if percentage == absolute == 0:
        yield invalid(percentage_path, 0, "cannot be zero at the same time as minCandidateNodesAbsolute")
        yield invalid(absolute_path, 0, "cannot be zero at the same time as minCandidateNodesPercentage")


class DefaultPreemption(Plugin):
    """Selects a node and its victims; the scheduler deletes the victims."""

    arguments = Arguments(
        "DefaultPreemption",
        {"minCandidateNodesPercentage": pointer(INT32), "minCandidateNodesAbsolute": pointer(INT32)},
        defaults=_defaults,
        problems=_problems,
    )
    tries_all = False
    """Whether every node is tried, whatever the number of candidates."""

    def __init__(self, args: Document | None = None, handle: Handle | None = None) -> None:
        super().__init__(args, handle)
        self._cache = (
            DryRunCache(handle.nodes, handle.nominator) if handle is not None and handle.shortcuts.dry_runs else None
        )

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        return unresolvable(WAITING) if pod.uid in self.handle.shared.get(IN_FLIGHT, ()) else None

    def post_filter(self, pod: PodInfo, rejections: Rejections, cycle: CycleState) -> PostFiltered:
        reason = self.ineligible(pod, rejections)
        if reason:
            return PostFiltered(unschedulable(f"preemption: {reason}"))
        run = self.dry_run(pod, rejections, cycle)
        best = run.best(self.handle.now())
        if best is None:
            return self._without_candidate(run)
        extenders: Extenders | None = self.handle.shared.get("extenders")
        if extenders is not None:
            try:
                candidates: Any = extenders.preempt(pod, run.candidates)
            except ExtenderFailed as failure:
                return PostFiltered(error(f"preemption: {failure}"))
            if not candidates:
                return PostFiltered(unschedulable("preemption: no candidate node for preemption"))
            name = best_candidates(candidates, self.handle.now())[0]
            best = name, candidates[name]
        node, victims = best
        return PostFiltered(self._succeeded(node, len(victims.pods)), node, tuple(victims.pods))

    def _succeeded(self, node: str, victims: int) -> Status:
        if not self.rules.names_preemption:
            return SUCCESS
        text = f"preemption: found a potential placement for pod on node {node}, preempting {victims} victims"
        return Status(Code.SUCCESS, (text,))

    @requeue.on("Pod", Action.DELETE)
    def victim_deleted(self, pod: PodInfo, old: PodInfo, new: None) -> bool:
        """Registered so that a pod held by PreEnqueue sees the event; the plugins it waits for say what it is worth."""
        return False

    def ineligible(self, pod: PodInfo, rejections: Rejections) -> str:
        """Why the pod may not preempt; empty where it may."""
        if pod.shape.never_preempts:
            return NEVER
        if pod.nominated_node and rejections.status(pod.nominated_node).code != Code.UNRESOLVABLE:
            node = self.handle.nodes.find(pod.nominated_node)
            for other in node.pods if node is not None else ():
                if other.priority < pod.priority and other.deleting and other.is_preempted:
                    return TERMINATING
        return ""

    def dry_run(self, pod: PodInfo, rejections: Rejections, cycle: CycleState) -> DryRun:
        """Tries the nodes that preemption may help, in the order of their names."""
        handle = self.handle
        names, row_of = rejections.resolvable(), handle.nodes.row_of
        if isinstance(names, NodeNames):
            rows = names.rows_by_name()
        else:
            rows = np.array([row_of[name] for name in sorted(names)], np.intp)
        budgets = handle.cluster.list("PodDisruptionBudget")
        known = self._cache.outcomes(pod.shape, self._versions()) if self._cache is not None else None
        evaluator = Evaluator(handle.framework, handle.nodes, handle.nominator, budgets, known)
        return evaluator.dry_run(pod, rows, cycle, len(rows) if self.tries_all else self._wanted(len(rows)))

    def _versions(self) -> tuple[Any, ...]:
        """The versions of what dry runs depend on apart from rows."""
        plugins = [call.plugin.depends_on() for call in self.handle.framework.filters]
        return self.handle.cluster.version("PodDisruptionBudget"), *plugins

    def _wanted(self, nodes: int) -> int:
        share = nodes * int(self.args.get("minCandidateNodesPercentage", 10)) // 100
        return min(max(share, int(self.args.get("minCandidateNodesAbsolute", 100))), nodes)

    def _without_candidate(self, run: DryRun) -> PostFiltered:
        messages = list(dict.fromkeys(run.errors))
        if messages:
            text = messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]"
            return PostFiltered(error(f"preemption: {text}"))
        total = len(self.handle.nodes.order)
        text = fit_error(total, run.failed.values(), unresolvable(NOT_HELPFUL), len(run.failed))
        return PostFiltered(unschedulable(f"preemption: {text}"), "")
