"""pdb: evictions stay within PodDisruptionBudgets; a pod without labels is never a victim. Upstream: plugins/pdb."""

from collections.abc import Sequence

from seatrial.model.label_selectors import LabelSelector
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.extension_points import PERMIT, Point
from seatrial.volcano.framework.plugin import Plugin


class PodDisruptionBudgets(Plugin):
    """Counts down what each budget allows."""

    name = "pdb"

    def on_session_open(self) -> None:
        self.add(Point.VICTIM_TASKS, self._within_budgets)
        self.add(Point.RECLAIMABLE, lambda _, candidates: (self._within_budgets(candidates), PERMIT))
        self.add(Point.PREEMPTABLE, lambda _, candidates: (self._within_budgets(candidates), PERMIT))

    def _within_budgets(self, tasks: Sequence[TaskInfo]) -> list[TaskInfo]:
        listed = self.session.cluster.objects.list("PodDisruptionBudget")
        budgets = [
            (
                LabelSelector.from_document((budget.get("spec") or {}).get("selector")),
                budget["metadata"].get("namespace") or "default",
                (budget.get("status") or {}).get("disruptedPods") or {},
            )
            for budget in listed
        ]
        allowed = [int((budget.get("status") or {}).get("disruptionsAllowed") or 0) for budget in listed]
        victims = []
        for task in tasks:
            labels = task.pod.labels
            if not labels:
                continue
            is_violated = False
            for place, (selector, namespace, disrupted) in enumerate(budgets):
                if namespace != task.namespace or selector.selects_everything or not selector.matches(labels):
                    continue
                if task.name not in disrupted:
                    allowed[place] -= 1
                    is_violated |= allowed[place] < 0
            if not is_violated:
                victims.append(task)
        return victims
