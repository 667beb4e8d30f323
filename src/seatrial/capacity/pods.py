"""How many more of a pod fit: copies are created until the scheduler refuses one.

Batches double, so that a cluster with room for thousands takes a dozen steps. A copy never preempts: it has a
PriorityClass of its own with the pod's priority and `preemptionPolicy: Never`.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from seatrial.capacity.refusals import Refusal, wording
from seatrial.capacity.trial import Setting, Trial, why_pending
from seatrial.model.documents import Document
from seatrial.model.errors import Forbidden

PRIORITY = "seatrial-capacity"
HIGHEST_USER_PRIORITY = 1_000_000_000
ADMISSION = "admission"
PRIORITY_CLASS = "scheduling.k8s.io/v1"
FIRST_BATCH = 16


@dataclass(frozen=True, slots=True)
class PodAnswer:
    """How many copies of a pod have a node, where, and what stops the next one."""

    pod: str
    fit: int
    is_limited: bool
    """Whether a copy was refused; else all copies that were allowed have a node."""
    by_node: dict[str, int]
    nodes: int
    pending_before: int
    """Pods of the cluster itself that have no node."""
    refusals: tuple[Refusal, ...] = ()

    @property
    def sentence(self) -> str:
        if not self.is_limited:
            return f"At least {self.fit} more of {self.pod} fit; no more were tried."
        many = "No more" if not self.fit else f"{self.fit} more"
        verb = "fits" if self.fit == 1 else "fit"
        if not self.nodes:
            return f"{many} of {self.pod} {verb}: the cluster has no nodes."
        why = wording(self.refusals, self.nodes) or "the scheduler gives no reason"
        return f"{many} of {self.pod} {verb}; the next one has no node: {why}."


def count_pods(
    setting: Setting, pod: Document, limit: int, advance: Callable[[int], None] = lambda _: None
) -> PodAnswer:
    """Fill the cluster with copies of a pod, up to a limit; `advance` is called with the number that have a node."""
    return _Filling(Trial(setting), pod, limit, advance).answer()


class _Filling:
    """The copies of one pod in a cluster."""

    def __init__(self, trial: Trial, pod: Document, limit: int, advance: Callable[[int], None]) -> None:
        self._trial, self._limit, self._advance = trial, limit, advance
        self._name, self._namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        self._ensure_namespace()
        trial.settle()
        self._pending_before = sum(1 for _ in trial.pending())
        self._copy = {**pod, "spec": {**pod["spec"], "priorityClassName": self._priority_class(pod["spec"])}}
        self._made = 0
        self._placed: Counter[str] = Counter()
        self._refusals: tuple[Refusal, ...] | None = None

    def answer(self) -> PodAnswer:
        batch = FIRST_BATCH
        while self._refusals is None and self._made < self._limit:
            self._fill(min(batch, self._limit - self._made))
            batch *= 2
        return PodAnswer(
            self._name,
            self._placed.total(),
            self._refusals is not None,
            dict(sorted(self._placed.items())),
            self._trial.nodes(),
            self._pending_before,
            self._refusals or (),
        )

    def _fill(self, count: int) -> None:
        """Create copies and let them be scheduled; the first one left over says why."""
        names, refused = [], None
        for _ in range(count):
            try:
                names.append(self._create())
            except Forbidden as error:
                refused = Refusal(ADMISSION, str(error), 0)
                break
        self._trial.settle()
        left = []
        for name in names:
            node = self._trial.pod(name, self._namespace)["spec"].get("nodeName")
            if node:
                self._placed[node] += 1
            else:
                left.append(name)
        self._advance(self._placed.total())
        if left:
            self._refusals = why_pending(self._trial, self._trial.pod(left[0], self._namespace))
        elif refused is not None:
            self._refusals = (refused,)

    def _create(self) -> str:
        name = f"capacity-{self._name}-{self._made}"
        self._trial.create({**self._copy, "metadata": {**self._copy["metadata"], "name": name}})
        self._made += 1
        return name

    def _priority_class(self, spec: Document) -> str:
        """A class with the priority of the pod that does not preempt."""
        kind = self._trial.kind(PRIORITY_CLASS, "PriorityClass")
        classes = [stored.document() for stored in self._trial.store.list(kind)]
        named = spec.get("priorityClassName")
        if named:
            chosen = [each for each in classes if each["metadata"]["name"] == named]
        else:
            chosen = [each for each in classes if each.get("globalDefault")]
        if named and not chosen:
            return str(named)
        value = min(chosen[0]["value"] if chosen else 0, HIGHEST_USER_PRIORITY)
        document = {"apiVersion": PRIORITY_CLASS, "kind": "PriorityClass", "metadata": {"name": PRIORITY}}
        self._trial.create({**document, "value": value, "preemptionPolicy": "Never"})
        return PRIORITY

    def _ensure_namespace(self) -> None:
        if self._trial.store.find(self._trial.kind("v1", "Namespace"), self._namespace, "") is None:
            self._trial.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self._namespace}})
