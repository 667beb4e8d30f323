"""How many nodes of a kind a scenario or a snapshot needs, so that every pod gets a node and none is preempted.

The number doubles until it is enough, then it is bisected. Each try is a run of the whole scenario with the exact
scheduler, so the answer is one that was seen to be enough, with one less seen not to be.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from seatrial.capacity.refusals import Refusal, is_hopeless, refusals_of, wording
from seatrial.capacity.trial import Setting, Trial, key_of, why_pending
from seatrial.model.documents import Document, decode
from seatrial.model.errors import ConfigError
from seatrial.scenario.spec import Template, dialect_of, expand_and_number

HOSTNAME = "kubernetes.io/hostname"
Counts = tuple[int, ...]
"""How many nodes there are of each kind."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """What is wrong with a run with too few nodes: the first pod without a node, or the first one preempted."""

    nodes: int
    pods: int
    """How many pods have no node or were preempted."""
    pod: str
    why: str
    is_hopeless: bool = False
    """Whether every node refuses the pod for what it is."""
    is_refused_by_kinds: bool = False
    """Whether every added node refuses every pod that waits for what that pod is."""
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """The smallest number of nodes that is enough (None: no number tried is), and what is wrong with one less."""

    node: str
    scenario: str
    nodes: int | None
    tried: tuple[tuple[int, int], ...]
    """(nodes, pods without a node or preempted) of each run, in order."""
    shortage: Shortage | None

    @property
    def sentence(self) -> str:
        short = self.shortage
        if self.nodes is None:
            assert short is not None
            if short.is_hopeless or short.is_refused_by_kinds:
                return f"No number of {self.node} is enough for {self.scenario}: {short.pod} fits none, {short.why}."
            return f"{short.nodes} of {self.node} are not enough for {self.scenario}: {_told(short)}."
        need = f"{self.scenario} needs {self.nodes} of {self.node}"
        if short is None:
            return f"{need}: every pod gets a node without them." if not self.nodes else f"{need}."
        return f"{need}; with {short.nodes}, {_told(short)}."


def _told(short: Shortage) -> str:
    more = "" if short.pods == 1 else f" (and {short.pods - 1} more)"
    return f"{short.pod}{more} {short.why}"


def count_nodes(
    setting: Setting,
    node: Document,
    limit: int,
    *,
    add: bool = False,
    advance: Callable[[int, int], None] = lambda _nodes, _pods: None,
) -> NodeAnswer:
    """Search for the number of nodes, up to a limit; `add` keeps the scenario's own nodes. `advance`: each try."""
    nodes = NodeTemplate(node)
    if not add and setting.scenario is not None:
        setting = replace(setting, scenario=without_nodes(setting.scenario, setting), folder=None)
    search = Search(setting, [nodes], advance)
    low, high = search.fewest(lambda count: (count,), limit)
    tried = tuple((counts[0], pods) for counts, pods in search.tried.items())
    return NodeAnswer(nodes.name, search.name, high, tried, search.shortages.get((low,)))


class NodeTemplate:
    """A Node of which there may be any number; `${index}` counts them as in generators."""

    def __init__(self, node: Document) -> None:
        status = node.get("status") or {}
        if not (status.get("allocatable") or status.get("capacity")):
            raise ConfigError("", "status.allocatable", "is required: what pods can have of the node")
        self.name = str(node["metadata"]["name"])
        try:
            self._template = Template(node)
            first, second = self._fill(0), self._fill(1)
        except ValueError as error:
            raise ConfigError("", "", str(error)) from error
        self._is_numbered = first["metadata"]["name"] != second["metadata"]["name"]
        if self._is_numbered:
            self.name = str(first["metadata"]["name"])

    def copies(self, count: int) -> Iterator[Document]:
        for index in range(count):
            node = self._fill(index)
            metadata = node["metadata"]
            if not self._is_numbered:
                metadata["name"] = f"{self.name}-{index}"
            metadata["labels"] = {**(metadata.get("labels") or {}), HOSTNAME: metadata["name"]}
            yield node

    def _fill(self, index: int) -> Document:
        node: Document = decode(self._template.fill({"index": index}))
        return node


def without_nodes(scenario: Document, setting: Setting) -> Document:
    """The scenario with its generators expanded and the Nodes it creates left out."""
    document, operations = expand_and_number(scenario, setting.folder)
    kept = []
    removed = {
        _created(planned.document())["metadata"]["name"] for planned in operations if _is_node(planned.document())
    }
    for planned in operations:
        operation = planned.document()
        if _is_node(operation):
            continue
        spec = _created(operation).get("spec") or {}
        if _created(operation).get("kind") == "Pod" and spec.get("nodeName") in removed:
            # Its node is left out, so it needs another one.
            del spec["nodeName"]
        for verb in ("patchOperation", "deleteOperation"):
            target = (operation.get(verb) or {}).get("typeMeta") or {}
            if target.get("kind") == "Node":
                why = f"operation {planned.id} changes a Node of the scenario, which is left out; --add keeps its nodes"
                raise ConfigError("", verb, why)
        kept.append(operation)
    listing = dialect_of(scenario.get("spec") or {}).listing
    return {**document, "spec": {**document["spec"], listing: kept}}


def _created(operation: Document) -> Document:
    created: Document = (operation.get("createOperation") or {}).get("object") or {}
    return created


def _is_node(operation: Document) -> bool:
    created = _created(operation)
    return (created.get("apiVersion"), created.get("kind")) == ("v1", "Node")


class Search:
    """The runs of one question, each number of nodes of each kind once."""

    def __init__(
        self, setting: Setting, kinds: Sequence[NodeTemplate], advance: Callable[[int, int], None] = lambda *_: None
    ) -> None:
        self._setting, self._kinds, self._advance = setting, kinds, advance
        self.name = str(setting.scenario["metadata"]["name"]) if setting.scenario else "the snapshot"
        self.tried: dict[Counts, int] = {}
        self.shortages: dict[Counts, Shortage] = {}

    def is_hopeless(self, tries: Sequence[Counts]) -> bool:
        """Whether the last of these tries show that more nodes do not help either.

        One try is enough where all nodes refuse a pod for what it is. Where a node that is there already is only full,
        a pod of this run may go from it to a new node, so that two tries have to end the same.
        """
        found = [self.shortages[counts] for counts in tries if any(counts) and counts in self.shortages]
        last = found[-2:]
        return any(each.is_hopeless for each in found) or (
            len(last) == 2 and all(each.is_refused_by_kinds for each in last) and last[0].pods == last[1].pods
        )

    def fewest(self, counts: Callable[[int], Counts], limit: int) -> tuple[int, int | None]:
        """The largest number that is not enough, and the smallest that is: doubled, then bisected."""
        # With 0 only nodes that are there already, those of the snapshot or the scenario, can be enough.
        low, high = 0, 0 if self.is_enough(counts(0)) else None
        step, tries = 1, list[Counts]()
        while high is None and low < limit and not self.is_hopeless(tries):
            step = min(step, limit)
            tries.append(counts(step))
            if self.is_enough(counts(step)):
                high = step
            else:
                low, step = step, step * 2
        while high is not None and high - low > 1:
            middle = (low + high) // 2
            if self.is_enough(counts(middle)):
                high = middle
            else:
                low = middle
        return low, high

    def is_enough(self, counts: Counts) -> bool:
        if counts in self.tried:
            return counts not in self.shortages
        options = self._setting.options
        added = [node for kind, count in zip(self._kinds, counts, strict=True) for node in kind.copies(count)]
        trial = Trial(replace(self._setting, options=replace(options, snapshot=[*options.snapshot, *added])))
        if self._setting.scenario is None:
            trial.settle()
        shortage = _shortage(trial, {str(node["metadata"]["name"]) for node in added})
        self.tried[counts] = shortage.pods if shortage else 0
        if shortage is not None:
            self.shortages[counts] = shortage
        self._advance(sum(counts), self.tried[counts])
        return shortage is None


def _shortage(trial: Trial, added: Collection[str]) -> Shortage | None:
    """What the run lacks: a pod that no node of the kinds can ever take first, else the first one without a node."""
    refusals, count = trial.refusals, len(added)
    pending = {key_of(pod): pod for pod in trial.pending()}
    # Refused pods that are no longer there were deleted while they waited.
    deleted = {pod: decision for pod, decision in refusals.decisions.items() if not trial.has_pod(pod)}
    without = [*pending, *deleted]
    if not without:
        for victim, preemptor in refusals.preempted.items():
            return Shortage(count, len(refusals.preempted), victim, f"is preempted by {preemptor}")
        for job, why in (jobs := dict(trial.waiting_jobs())).items():
            return Shortage(count, len(jobs), f"job {job}", why)
        return None
    nodes = trial.nodes()
    # With no node of the kinds nothing is known of them.
    by_kinds = [(pod, trial.refusal(pod)) for pod in pending] if count else []
    for pod, decision in by_kinds:
        if decision is not None and is_hopeless(decision):
            found = tuple(refusals_of(decision))
            return Shortage(count, len(without), pod, wording(found, nodes), is_hopeless=True, refusals=found)
    if by_kinds and all(decision is not None and is_hopeless(decision, added) for _, decision in by_kinds):
        pod, decision = by_kinds[0]
        assert decision is not None
        found = tuple(refusals_of(decision, added))
        why = wording(found, count)
        return Shortage(count, len(without), pod, why, is_refused_by_kinds=True, refusals=found)
    first = without[0]
    found = why_pending(trial, pending[first]) if first in pending else tuple(refusals_of(deleted[first]))
    why = wording(found, nodes) if nodes else "the cluster has no nodes"
    return Shortage(count, len(without), first, f"has no node: {why}", refusals=found)
