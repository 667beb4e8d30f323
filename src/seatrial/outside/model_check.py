"""Compares an outside scheduler with the embedded exact one, decision by decision.

Just before a bind is carried out the embedded scheduler is asked where the pod would go in the same cluster. The bind
is equal when its node is among those with the highest total; in a cluster of which kube-scheduler looks at a part
only (percentageOfNodesToScore), when its node passes the filters. A pod that stays pending is compared in the last
sweep of a step, when nothing is on its way any more. The attempt of the embedded scheduler becomes part of the
PodResult.

A program goes on deciding while its writes wait. What it decided before the cluster changed for another reason than
its own writes may differ without being wrong: it is counted apart.
"""

from dataclasses import dataclass, field

from seatrial.outside.pods import Key
from seatrial.scenario import ScenarioStatus
from seatrial.scheduler import Scheduler
from seatrial.scheduler.schedule_one import Attempt, best_places, nodes_to_find
from seatrial.timeline import Timeline

NAMED = 5
NOTE = "model"


@dataclass(slots=True)
class Differences:
    """What was compared so far."""

    compared: int = 0
    earlier: int = 0
    """Decisions that differ and were made before the last change of the cluster."""
    found: list[str] = field(default_factory=list)

    def text(self) -> str:
        earlier = f" ({self.earlier} were made in an earlier state of the cluster)" if self.earlier else ""
        decisions = f"model: {self.compared} decisions compared{earlier}"
        if not self.found:
            return f"{decisions}, none differs"
        more = f" and {len(self.found) - NAMED} more" if len(self.found) > NAMED else ""
        differ = "1 differs" if len(self.found) == 1 else f"{len(self.found)} differ"
        return f"{decisions}, {differ}: {'; '.join(self.found[:NAMED])}{more}"


class ModelCheck:
    """The embedded scheduler as a judge; it never writes."""

    def __init__(self, scheduler: Scheduler, timeline: Timeline, status: ScenarioStatus) -> None:
        self._scheduler, self._timeline, self._status = scheduler, timeline, status
        self.differences = Differences()

    def start(self) -> None:
        # The model looks at all nodes, so that a node outside the part that was searched is known, too.
        self._percentage, self._scheduler.algorithm.percentage = self._scheduler.algorithm.percentage, 100
        self._scheduler.start()

    def stop(self) -> None:
        self._scheduler.stop()

    def bound(self, key: Key, node: str, *, is_earlier: bool) -> None:
        """The outside scheduler binds a pod to a node; `is_earlier`: the cluster has changed since it decided."""
        attempt = self._attempt(key)
        if attempt is None:
            return
        best = self._best(attempt)
        where = f"{'/'.join(key)} went to {node}"
        difference = ""
        if not attempt.node:
            difference = f"{where}, the model finds no node ({attempt.message})"
        elif node not in best:
            difference = f"{where}, the model's best are {', '.join(best[:NAMED])}"
        self._compare(difference, is_earlier=is_earlier)

    def unschedulable(self, key: Key, *, is_final: bool) -> None:
        """The outside scheduler says that a pod fits nowhere; compared only where it is final."""
        attempt = self._attempt(key)
        if attempt is not None and is_final:
            difference = f"{'/'.join(key)} stays pending, the model binds it to {attempt.node}"
            self._compare(difference if attempt.node else "")

    def _attempt(self, key: Key) -> Attempt | None:
        """Ask the embedded scheduler, and keep its answer in the timeline."""
        attempt = self._scheduler.propose(*key)
        if attempt is not None:
            cells = self._timeline.wants_cells
            self._timeline.record(attempt.decision(self._scheduler.clock.now(), 1, cells))
        return attempt

    def _best(self, attempt: Attempt) -> list[str]:
        """The nodes that may be chosen: those with the highest total; one node alone is not scored."""
        if nodes_to_find(attempt.total_nodes, self._percentage) < attempt.total_nodes:
            return self._scheduler.table.names_of(attempt.feasible).listed()
        if attempt.scored is None or not len(attempt.scored.total):
            return [attempt.node]
        return self._scheduler.table.names_of(attempt.feasible[best_places(attempt.scored.total)]).listed()

    def _compare(self, difference: str, *, is_earlier: bool = False) -> None:
        self.differences.compared += 1
        if difference and is_earlier:
            self.differences.earlier += 1
        elif difference:
            self.differences.found.append(difference)
        self._status.notes[NOTE] = self.differences.text()
