"""The scheduling cycle of one pod: which node, or why none.

`Algorithm.schedule` is upstream's schedulePod and what follows when it fails: PreFilter, the nominated node, the
search, extenders, scores, the choice; without a feasible node PostFilter. It changes nothing but the place where the
next search starts; assuming, reserving and binding are the caller's.

Upstream: pkg/scheduler/schedule_one.go.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from msgspec import Struct

from seatrial.scheduler.cache.given_nodes import GivenNodes
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import NO_ROWS, NodeTable, Rows
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.evaluator.cached import CachedEvaluator
from seatrial.scheduler.evaluator.interface import Evaluator, Found
from seatrial.scheduler.evaluator.kernel import KernelEvaluator
from seatrial.scheduler.evaluator.kernel_choice import chosen_kernel
from seatrial.scheduler.evaluator.plain import PlainEvaluator
from seatrial.scheduler.evaluator.shortcuts import Shortcuts, chosen_shortcuts
from seatrial.scheduler.framework.cluster import Nominator
from seatrial.scheduler.framework.interface import PostFiltered
from seatrial.scheduler.framework.runtime import NOTHING, CycleState, Framework, PreFiltered
from seatrial.scheduler.framework.scoring import Scored, run_scores
from seatrial.scheduler.framework.status import SUCCESS, Status, error, unresolvable
from seatrial.scheduler.schedule_one.decision import (
    ERROR,
    SCHEDULED,
    UNSCHEDULABLE,
    Decision,
    Preemption,
    PreFilterRecord,
)
from seatrial.scheduler.schedule_one.extenders import Candidates, ExtenderFailed, Extenders
from seatrial.scheduler.schedule_one.fit_error import ABSENT, Diagnosis
from seatrial.scheduler.schedule_one.select_host import UPSTREAM, TieBreak, best_places, highest, nodes_to_find

NO_NODES = "no nodes available to schedule pods"
EXTENDER = "Extender"
_AFTER_CHOICE = frozenset(("points", "permit_timeouts"))
RECORDS_REMEMBERED = 256
BEST_KEPT = 3
"""Of how many nodes the total is kept where no cells are wanted."""


class Hints(Protocol):
    """Remembers the nodes that were scored for a pod, and hints the next one to them."""

    def take_hint(self, attempt: "Attempt") -> str: ...

    def store(self, attempt: "Attempt", tie_break: TieBreak) -> None: ...


class Attempt(Struct, eq=False):
    """One scheduling cycle: the node, or what went wrong, and everything that explains it."""

    pod: PodInfo
    framework: Framework
    pre_filter: PreFiltered
    node: str = ""
    message: str = ""
    """text of the event where there is no node; for an error its text"""
    is_error: bool = False
    took_nominated: bool = False
    first_node: str = ""
    """the nominated or else the hinted node, which is tried before all others"""
    nominated: Status | None = None
    """verdict on that node, if it was tried"""
    batching: "Hints | None" = None
    found: Found | None = None
    feasible: Rows = NO_ROWS
    """rows that passed filters and extenders, in the order found"""
    given: GivenNodes | None = None
    """the nodes that passed as an extender gave them back: they take the place of `feasible`"""
    scored: Scored | None = None
    diagnosis: Diagnosis | None = None
    post_filter: PostFiltered | None = None
    candidates: Candidates | None = None
    """what extenders left; None: they were not asked"""
    by_extenders: Mapping[str, Status] = NOTHING
    extenders_filtered: bool = False
    """whether extenders left another number of nodes than the filters"""
    total_nodes: int = 0
    evaluations: tuple[tuple[str, str, int], ...] = ()
    """how often each plugin was asked at which point, if that is counted"""
    recorder_keeps: Callable[[int], bool] | None = None
    """Whether the verdicts and scores of this number of visited nodes are kept."""

    @property
    def keeps_cells(self) -> bool:
        keeps, found = self.recorder_keeps, self.found
        return keeps is not None and found is not None and keeps(len(found.visited))

    @property
    def cycle(self) -> CycleState:
        """The states of the plugins, for Reserve and the points after it."""
        return self.pre_filter.cycle

    @property
    def rejected_by(self) -> tuple[str, ...]:
        """Plugins whose events may make the pod schedulable."""
        if self.diagnosis is None:
            return ()
        blamed = {*self.diagnosis.plugins(), *self.pre_filter.narrowed_by}
        return tuple(sorted(blamed | {EXTENDER} if self.extenders_filtered else blamed))

    @property
    def feasible_count(self) -> int:
        """How many nodes passed filters and extenders."""
        return len(self.feasible) if self.given is None else len(self.given)

    def given_node(self) -> NodeInfo | None:
        """The chosen node as an extender gave it back, where the scheduler has no node of that name."""
        if self.given is None or self.given.table.find(self.node) is not None:
            return None
        return next(node for node in self.given.infos if node.name == self.node)

    def feasible_names(self) -> Sequence[str]:
        """The nodes that passed filters and extenders, in order."""
        if self.given is not None:
            return self.given.names()
        return [] if self.found is None else self.found.table.names_of(self.feasible)

    @property
    def pending_by(self) -> tuple[str, ...]:
        return self.diagnosis.plugins(pending=True) if self.diagnosis else ()

    def decision(self, at: int = 0, attempt: int = 1, cells: bool = True, best: bool = True, **more: Any) -> Decision:
        """The attempt as the record keeps it; `more` overrides what only the caller knows.

        `cells` asks for the results of all plugins, with the verdicts and scores of all nodes if the attempt keeps
        them; without `cells` the record has the highest totals where `best` asks for them.
        """
        if self.node and not cells and self.post_filter is None and (not more or more.keys() <= _AFTER_CHOICE):
            feasible = self.feasible_count
            rejected = max(0, (len(self.found.visited) if self.found else 0) - feasible)
            return Decision(
                self.pod.key, self.pod.uid, self.framework.name, SCHEDULED, at, attempt, self.node,
                nodes_total=self.total_nodes, feasible_count=feasible, rejected_count=rejected,
                **(self._best() if best else {}), **more,
            )  # fmt: skip
        values: dict[str, Any] = {
            "outcome": ERROR if self.is_error else SCHEDULED if self.node else UNSCHEDULABLE,
            "node": self.node,
            "message": self.message,
            "nodes_total": self.total_nodes,
            "feasible_count": self.feasible_count,
            "rejected_count": max(0, (len(self.found.visited) if self.found else 0) - self.feasible_count),
            "rejected_by": self.rejected_by,
            "pending_by": self.pending_by,
        }
        if self.post_filter is not None:
            victims = tuple(victim.key for victim in self.post_filter.victims)
            nominated = self.post_filter.nominated_node or ""
            values["nominated_node"] = nominated
            values["preemption"] = Preemption(nominated, victims) if victims else None
            values["post_filter"] = ((self.post_filter.status.plugin, self.post_filter.status),)
        if cells:
            values |= self._cells()
        elif best:
            values |= self._best()
        return Decision(self.pod.key, self.pod.uid, self.framework.name, at=at, attempt=attempt, **(values | more))

    def _best(self) -> dict[str, Any]:
        """The nodes with the highest totals, for a record without cells."""
        if self.scored is None or self.found is None:
            return {}
        total, best = self.scored.total, self.scored.best[:BEST_KEPT]
        if len(best) < min(BEST_KEPT, len(total)):
            best = highest(total, BEST_KEPT)
        if self.given is not None:
            names = self.given.names()
            return {"feasible": tuple(names[place] for place in best.tolist()), "total": total[best]}
        return {"feasible": self.found.table.names_of(self.feasible[best]), "total": total[best]}

    def _cells(self) -> dict[str, Any]:
        pre = self.pre_filter
        values: dict[str, Any] = {
            "pre_filter": _pre_filter_record(pre),
            "filter_plugins": self.framework.filters_run(pre.cycle.skipped),
        }
        if self.found is not None:
            table = self.found.table
            values["visited"], values["feasible"] = table.names_of(self.found.visited), self.feasible_names()
            if self.keeps_cells:
                values["verdicts"], values["statuses"] = self.found.explain()
            else:
                values["statuses"], values["status_counts"] = self.found.counted()
        if self.scored is not None:
            values["scores"] = tuple(self.scored.parts)
            values["total"] = self.scored.total
            values["pre_score_skipped"] = tuple(sorted(self.scored.skipped))
            values["pre_score_plugins"] = self.scored.ran
        return values


def _pre_filter_record(pre: PreFiltered) -> PreFilterRecord:
    if pre.status is SUCCESS and pre.nodes is None:
        return _plain_record(pre.ran, pre.cycle.skipped)
    nodes = None if pre.nodes is None else tuple(sorted(pre.nodes))
    return PreFilterRecord(pre.status, pre.ran, tuple(sorted(pre.cycle.skipped)), nodes, pre.narrowed_by, pre.node_sets)


@lru_cache(RECORDS_REMEMBERED)
def _plain_record(ran: tuple[str, ...], skipped: frozenset[str]) -> PreFilterRecord:
    """PreFilter let the pod pass and left all nodes: the record of almost all attempts."""
    return PreFilterRecord(plugins=ran, skipped=tuple(sorted(skipped)))


class Algorithm:
    """Schedules one pod after the other on one table."""

    def __init__(
        self,
        table: NodeTable,
        nominator: Nominator,
        *,
        percentage: int = 0,
        tie_break: TieBreak | None = None,
        extenders: Extenders | None = None,
        shortcuts: Shortcuts | None = None,
        search_all: bool = False,
        score_always: bool = False,
        stops_at_errors: bool = True,
    ) -> None:
        self.table = table
        self.percentage = percentage
        self.tie_break = tie_break or TieBreak()
        self.extenders = extenders
        self.start = 0
        """Where the next search begins, as a place in the order."""
        self.evaluator = evaluator_for(table, nominator, shortcuts or chosen_shortcuts(), stops_at_errors)
        self._planner = self.evaluator if extenders is None and isinstance(self.evaluator, KernelEvaluator) else None
        self._search_all = search_all
        self._score_always = score_always

    @property
    def rows_evaluated(self) -> int:
        """The number of rows passed to plugins so far: the cost of the cycles, counted without a clock."""
        return self.evaluator.rows_evaluated

    def schedule(
        self,
        framework: Framework,
        pod: PodInfo,
        keeps_cells: Callable[[int], bool] | None = None,
        batching: Hints | None = None,
    ) -> Attempt:
        """One cycle. `keeps_cells` answers whether to keep every plugin's results for a number of visited nodes."""
        table = self.table
        table.refresh()
        if not len(table.order):
            attempt = Attempt(pod, framework, PreFiltered(CycleState()), message=NO_NODES)
            attempt.diagnosis = Diagnosis(())
            return attempt
        may_plan = batching is None and self._planner is not None
        if may_plan and (planned := self._planned(framework, pod, keeps_cells)) is not None:
            return planned
        pre = framework.run_pre_filter(pod, table.all())
        attempt = Attempt(pod, framework, pre, total_nodes=len(table.order), recorder_keeps=keeps_cells)
        attempt.batching = batching
        if not pre.status.is_success:
            if not pre.status.is_rejected:
                return self._failed(attempt, pre.status)
            attempt.diagnosis = Diagnosis(table.names(), absent=pre.status, pre_filter_message=pre.status.message)
            return self._without_node(attempt)
        try:
            if not self._takes_nominated(attempt):
                self._search(attempt)
        except ExtenderFailed as failure:
            return self._failed(attempt, error(str(failure)))
        if attempt.is_error:
            return attempt
        if not attempt.feasible_count:
            return self._without_node(attempt)
        self._choose(attempt)
        if batching is not None and attempt.node:
            batching.store(attempt, self.tie_break)
        return attempt

    def _planned(self, framework: Framework, pod: PodInfo, keeps_cells: Callable[[int], bool] | None) -> Attempt | None:
        """The cycle of a pod for which no plugin has to be asked."""
        total = len(self.table.order)
        if self._planner is None:
            return None
        planned = self._planner.planned(framework, pod, self.start, self._limit(framework, total))
        if planned is None:
            return None
        pre, found = planned
        self.start = (self.start + found.processed) % total
        attempt = Attempt(pod, framework, pre, total_nodes=total, recorder_keeps=keeps_cells)
        attempt.found, attempt.feasible = found, found.feasible
        return self._choose(attempt)

    def _takes_nominated(self, attempt: Attempt) -> bool:
        """Tries the nominated or hinted node before all others; it does not move the start of the search."""
        pod = attempt.pod
        hint = attempt.batching.take_hint(attempt) if attempt.batching is not None else ""
        attempt.first_node = pod.nominated_node or hint
        row = self.table.row_of.get(attempt.first_node) if attempt.first_node else None
        if row is None:
            return False
        rows = np.asarray([row], np.intp)
        found = self.evaluator.feasible(attempt.framework, pod, attempt.cycle, rows, 0, 1)
        codes, statuses = found.explain()
        attempt.nominated = statuses[codes[0] - 1] if codes[0] else SUCCESS
        if codes[0] or found.error is not None:
            return False
        attempt.found, attempt.feasible = found, rows
        try:
            self._ask_extenders(attempt)
        except ExtenderFailed:
            # Upstream logs the error and goes on with the search, as if the node had not been tried.
            attempt.nominated, attempt.found, attempt.feasible = None, None, NO_ROWS
            return False
        attempt.took_nominated = bool(attempt.feasible_count)
        return attempt.took_nominated

    def _search(self, attempt: Attempt) -> None:
        pre, framework, table = attempt.pre_filter, attempt.framework, self.table
        total = len(table.order)
        rows, start = table.order, self.start
        if pre.nodes is not None:
            rows = np.asarray([table.row_of[name] for name in sorted(pre.nodes) if name in table.row_of], np.intp)
            start %= max(len(rows), 1)
        limit = self._limit(framework, len(rows))
        found = self.evaluator.feasible(framework, attempt.pod, attempt.cycle, rows, start, limit)
        attempt.found, attempt.feasible = found, found.feasible
        self.start = (self.start + found.processed + self._tried_apart(attempt)) % total
        if found.error is not None:
            self._failed(attempt, found.error)
            return
        self._ask_extenders(attempt)
        attempt.extenders_filtered = attempt.feasible_count != len(found.feasible)

    def _tried_apart(self, attempt: Attempt) -> int:
        """1 where the first node was rejected and the search did not come by it: it counts as visited too."""
        if attempt.nominated is None or attempt.found is None:
            return 0
        row = self.table.row_of[attempt.first_node]
        return 0 if (attempt.found.visited == row).any() else 1

    def _limit(self, framework: Framework, nodes: int) -> int:
        if self._search_all:
            return nodes
        extenders = self.extenders
        if not framework.scorers and not (extenders and (extenders.has_filter or extenders.has_prioritize)):
            return 1
        percentage = self.percentage if framework.percentage is None else framework.percentage
        return nodes_to_find(nodes, percentage)

    def _ask_extenders(self, attempt: Attempt) -> None:
        if self.extenders is None or not len(attempt.feasible):
            return
        attempt.given = None
        names = self.table.names_of(attempt.feasible).listed()
        left, attempt.by_extenders = self.extenders.filter(attempt.pod, Candidates(names))
        attempt.candidates = left
        if left.documents is not None:
            attempt.given = GivenNodes(self.table, [NodeInfo.read(document) for document in left.documents])
        elif left.names != names:
            attempt.feasible = np.asarray([self.table.row_of[name] for name in left.names], np.intp)

    def _choose(self, attempt: Attempt) -> Attempt:
        if not self._score_always and attempt.feasible_count == 1:
            attempt.node = attempt.feasible_names()[0]
            return attempt
        assert attempt.found is not None
        scored = attempt.scored = self._score(attempt)
        if scored.error is not None:
            return self._failed(attempt, scored.error)
        if self.extenders is not None:
            candidates = attempt.candidates or Candidates(attempt.feasible_names())
            points = self.extenders.prioritize(attempt.pod, candidates)
            scored.total = scored.total + np.asarray([points.get(name, 0) for name in candidates.names], np.int64)
        if scored.root >= 0 and self.extenders is None and self.tie_break.rule == UPSTREAM:
            attempt.node = self.table.info(int(attempt.feasible[scored.root])).name
            return attempt
        scored.best = best_places(scored.total)
        if attempt.given is not None:
            given = attempt.given
            attempt.node = given[self.tie_break.among(scored.best, lambda place: given[place].name)].name
            return attempt
        feasible, info = attempt.feasible, self.table.info
        place = self.tie_break.among(scored.best, lambda place: info(int(feasible[place])).name)
        attempt.node = info(int(feasible[place])).name
        return attempt

    def _score(self, attempt: Attempt) -> Scored:
        assert attempt.found is not None
        if attempt.given is not None:
            return run_scores(attempt.framework, attempt.pod, attempt.given, attempt.cycle)
        return self.evaluator.totals(attempt.found, attempt.feasible, attempt.keeps_cells)

    def _without_node(self, attempt: Attempt) -> Attempt:
        """No node is feasible: says why, and lets PostFilter try to change that."""
        diagnosis = attempt.diagnosis = attempt.diagnosis or self._diagnose(attempt)
        told = ""
        if attempt.framework.has("postFilter"):
            attempt.post_filter = attempt.framework.run_post_filter(attempt.pod, diagnosis, attempt.cycle)
            told = attempt.post_filter.status.message
        attempt.message = diagnosis.message(told)
        return attempt

    def _diagnose(self, attempt: Attempt) -> Diagnosis:
        assert attempt.found is not None
        table, row_of = self.table, self.table.row_of
        codes, found = attempt.found.explain()
        statuses = list(found)
        by_row = np.zeros(table.size, np.int32)
        by_row[attempt.found.visited] = codes
        nominated = attempt.nominated
        if nominated is not None and not nominated.is_success and not by_row[row_of[attempt.first_node]]:
            statuses.append(nominated)
            by_row[row_of[attempt.first_node]] = len(statuses)
        strangers: list[Status] = []
        for name, status in attempt.by_extenders.items():
            if name in row_of:
                statuses.append(status)
                by_row[row_of[name]] = len(statuses)
            else:
                strangers.append(status)
        absent = ABSENT
        if attempt.pre_filter.nodes is not None:
            plugins = " ".join(attempt.pre_filter.narrowed_by)
            absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{plugins}]")
        return Diagnosis(table.names_of(table.order), by_row[table.order], statuses, absent, of_strangers=strangers)

    def _failed(self, attempt: Attempt, status: Status) -> Attempt:
        attempt.is_error = True
        attempt.message = status.message
        return attempt


def evaluator_for(table: NodeTable, nominator: Nominator, shortcuts: Shortcuts, stops_at_errors: bool) -> Evaluator:
    """The evaluator that takes the given shortcuts."""
    if shortcuts.feasible_index and shortcuts.single_rows and chosen_kernel() is not None:
        return KernelEvaluator(table, nominator, shortcuts, stops_at_errors=stops_at_errors)
    if shortcuts.keeps_columns:
        return CachedEvaluator(table, nominator, shortcuts, stops_at_errors=stops_at_errors)
    return PlainEvaluator(table, nominator, stops_at_errors=stops_at_errors)
