"""One attempt in the words of the recording."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from seatrial.model.documents import Document
from seatrial.scheduler.cache import PodInfo
from seatrial.scheduler.evaluator import Found, Scored
from seatrial.scheduler.framework import CycleState, Framework, Status
from seatrial.scheduler.plugins import DefaultPreemption
from seatrial.scheduler.preemption import best_candidates
from seatrial.scheduler.schedule_one import Algorithm, Attempt, TieBreak

UPSTREAM = TieBreak("upstream")


def status_document(status: Status, signed: bool = True) -> Document:
    """A status as it was recorded."""
    document: Document = {"code": status.code.text}
    if signed and status.plugin:
        document["plugin"] = status.plugin
    if status.reasons:
        document["reasons"] = list(status.reasons)
    return document


class AttemptWriter:
    """Describes an attempt of an algorithm with everything the recording has."""

    def __init__(
        self,
        algorithm: Algorithm,
        framework: Framework,
        knows_start: bool,
        start: int,
        apart: CycleState,
        throws_dice: bool = False,
    ) -> None:
        self._apart = apart
        """States of the same cycle that the attempt did not touch."""
        self.algorithm = algorithm
        self.framework = framework
        self.knows_start = knows_start
        self.throws_dice = throws_dice
        self._start = start
        self._info = algorithm.table.info

    def write(self, attempt: Attempt) -> Document:
        """The attempt as a document."""
        document: Document = {"preFilter": self._pre_filter(attempt), "feasible": [], "rejected": {}, "verdicts": {}}
        found, scored = attempt.found, attempt.scored
        if attempt.nominated is not None:
            node = attempt.pod.nominated_node
            document["nominated"] = {"node": node, "status": status_document(attempt.nominated)}
        if attempt.took_nominated:
            found, scored = self._search_anyway(attempt)
        if found is not None:
            self._write_search(document, attempt, found)
        if scored is not None and found is not None:
            self._write_scores(document, attempt, found, scored)
        if attempt.post_filter is not None:
            document["postFilter"] = self._post_filter(attempt)
        if attempt.is_error:
            document["error"] = attempt.message
        elif not attempt.node:
            document["message"] = attempt.message
        return document

    def _pre_filter(self, attempt: Attempt) -> Document:
        pre = attempt.pre_filter
        document: Document = {"status": status_document(pre.status)}
        if pre.cycle.skipped:
            document["skip"] = sorted(pre.cycle.skipped)
        if pre.status.is_success and pre.nodes is not None:
            document["nodes"], document["plugins"] = sorted(pre.nodes), list(pre.narrowed_by)
        return document

    def _search_anyway(self, attempt: Attempt) -> tuple[Found, Scored]:
        """The recording searched and scored all nodes even where the nominated one was taken."""
        table, pre = self.algorithm.table, attempt.pre_filter
        rows = table.order
        if pre.nodes is not None:
            rows = np.asarray([table.row_of[n] for n in sorted(pre.nodes) if n in table.row_of], np.intp)
        limit = self.algorithm._limit(self.framework, len(rows))
        evaluator, start = self.algorithm.evaluator, self._start % max(len(rows), 1)
        found = evaluator.feasible(self.framework, attempt.pod, attempt.cycle, rows, start, limit)
        return found, evaluator.totals(found, found.feasible, True)

    def _write_search(self, document: Document, attempt: Attempt, found: Found) -> None:
        codes, statuses = found.explain()
        names = [self._info(row).name for row in found.visited.tolist()]
        for name, code in zip(names, codes.tolist(), strict=True):
            if code:
                document["rejected"][name] = status_document(statuses[code - 1])
        document["feasible"] = sorted(name for name, code in zip(names, codes.tolist(), strict=True) if not code)
        document["verdicts"] = self._verdicts(attempt.pod, attempt.cycle, found, names)
        searchable = len(self.algorithm.table.order)
        nodes = attempt.pre_filter.nodes
        if nodes is not None:
            searchable = sum(name in self.algorithm.table.row_of for name in nodes)
            plugins = " ".join(attempt.pre_filter.narrowed_by)
            outside = {
                "code": "UnschedulableAndUnresolvable",
                "reasons": [f"node(s) didn't satisfy plugin(s) [{plugins}]"],
            }
            visited = set(names)
            if not attempt.is_error:
                document["rejected"] |= {n: outside for n in self.algorithm.table.names() if n not in visited}
        if searchable > len(names):
            document["unsearched"] = searchable - len(names)

    def _verdicts(self, pod: PodInfo, cycle: CycleState, found: Found, names: list[str]) -> Document:
        """What every filter says about every node when asked alone."""
        verdicts: Document = {}
        nodes = self.algorithm.table.take(found.visited)
        for call in self.framework.filters:
            if call.name in cycle.skipped:
                continue
            answer = call(pod, nodes, self._apart.of(call.name))
            if answer is None:
                continue
            for place in np.flatnonzero(answer.codes).tolist():
                said = status_document(answer.status(place), signed=False)
                verdicts.setdefault(names[place], {})[call.name] = said
        return verdicts

    def _write_scores(self, document: Document, attempt: Attempt, found: Found, scored: Scored) -> None:
        names = [self._info(row).name for row in found.feasible.tolist()]
        by_name = sorted(range(len(names)), key=names.__getitem__)
        totals = np.zeros(len(names), np.int64) if scored.error is not None else scored.total
        document["total"] = totals[by_name].tolist()
        if scored.skipped:
            document["preScoreSkip"] = sorted(scored.skipped)
        if scored.error is not None:
            return
        if scored.parts:
            document["scores"] = {
                part.plugin: {
                    "weight": part.weight,
                    "raw": part.raw[by_name].tolist(),
                    "normalized": part.normalized[by_name].tolist(),
                    "weighted": part.final[by_name].tolist(),
                }
                for part in scored.parts
            }
        top = max(0, int(totals.max())) if self.framework.scorers else 1
        document["best"] = sorted(name for name, total in zip(names, totals.tolist(), strict=True) if total == top)
        document["selected"] = attempt.node
        is_settled = len(document["best"]) == 1 or not self.throws_dice
        if attempt.pre_filter.nodes is None and self.knows_start and not attempt.took_nominated and is_settled:
            document["schedulerPick"] = names[UPSTREAM.pick(totals, lambda place: names[place])]

    def _post_filter(self, attempt: Attempt) -> Document:
        result = attempt.post_filter
        assert result is not None and attempt.diagnosis is not None
        document: Document = {"status": status_document(result.status)}
        plugin = next((p for p in self.framework.points["postFilter"] if isinstance(p, DefaultPreemption)), None)
        if plugin is None or plugin.ineligible(attempt.pod, attempt.diagnosis):
            return document
        potential = sorted(attempt.diagnosis.resolvable())
        if not potential:
            return document
        document["potentialNodes"] = potential
        run = plugin.dry_run(attempt.pod, attempt.diagnosis, self._apart)
        document |= _nonempty(
            candidates={
                name: {"victims": [pod.key for pod in victims.pods], "pdbViolations": victims.violations}
                for name, victims in run.candidates.items()
            },
            failed={name: status_document(status) for name, status in run.failed.items()},
        )
        if run.candidates:
            best = best_candidates(run.candidates, plugin.handle.now())
            document["best"], document["nominatedNode"] = best, result.nominated_node
            document["victims"] = [victim.key for victim in result.victims]
        return document


def _nonempty(**fields: Mapping[str, Any]) -> Document:
    return {name: value for name, value in fields.items() if value}
