"""How many nodes of a kind a scenario or a snapshot needs, so that every pod gets a node and none is preempted.

The number doubles until it is enough, then it is bisected. Each try is a run of the whole scenario with the exact
scheduler, so the answer is one that was seen to be enough, with one less seen not to be.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from seatrial.capacity.refusals import Refusal, is_hopeless, refusals_of, wording
from seatrial.capacity.trial import Setting, Trial, why_pending
from seatrial.model.documents import Document, decode
from seatrial.model.errors import ConfigError
from seatrial.scenario.spec import Template, dialect_of, expand_and_number

HOSTNAME = "kubernetes.io/hostname"


@dataclass(frozen=True, slots=True)
class Shortage:
    """What is wrong with a run with too few nodes: the first pod without a node, or the first one preempted."""

    nodes: int
    pods: int
    """How many pods have no node or were preempted."""
    pod: str
    why: str
    is_hopeless: bool = False
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
            if short.is_hopeless:
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
    search = _Search(setting, nodes, advance)
    # Without them: only nodes that are there already, those of the snapshot or the scenario, can be enough.
    low, high = 0, None
    if search.is_enough(0):
        high = 0
    step = 1
    while high is None and low < limit and not search.is_hopeless:
        step = min(step, limit)
        if search.is_enough(step):
            high = step
        else:
            low, step = step, step * 2
    while high is not None and high - low > 1:
        middle = (low + high) // 2
        if search.is_enough(middle):
            high = middle
        else:
            low = middle
    name = str(setting.scenario["metadata"]["name"]) if setting.scenario else "the snapshot"
    return NodeAnswer(nodes.name, name, high, tuple(search.tried.items()), search.shortages.get(low))


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


class _Search:
    """The runs of one question, each number of nodes once."""

    def __init__(self, setting: Setting, nodes: NodeTemplate, advance: Callable[[int, int], None]) -> None:
        self._setting, self._nodes, self._advance = setting, nodes, advance
        self.tried: dict[int, int] = {}
        self.shortages: dict[int, Shortage] = {}

    @property
    def is_hopeless(self) -> bool:
        return any(shortage.is_hopeless for shortage in self.shortages.values())

    def is_enough(self, count: int) -> bool:
        options = self._setting.options
        snapshot = [*options.snapshot, *self._nodes.copies(count)]
        trial = Trial(replace(self._setting, options=replace(options, snapshot=snapshot)))
        if self._setting.scenario is None:
            trial.settle()
        shortage = _shortage(trial, count)
        self.tried[count] = shortage.pods if shortage else 0
        if shortage is not None:
            self.shortages[count] = shortage
        self._advance(count, self.tried[count])
        return shortage is None


def _shortage(trial: Trial, count: int) -> Shortage | None:
    """What the run lacks: a pod that no node of the kind can ever take first, else the first one without a node."""
    refusals = trial.refusals
    pending = {f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": pod for pod in trial.pending()}
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
    # With no node of the kind nothing is known of it.
    for pod in pending if count else ():
        decision = trial.refusal(pod)
        if decision is not None and is_hopeless(decision):
            found = tuple(refusals_of(decision))
            return Shortage(count, len(without), pod, wording(found, nodes), is_hopeless=True, refusals=found)
    first = without[0]
    found = why_pending(trial, pending[first]) if first in pending else tuple(refusals_of(deleted[first]))
    why = wording(found, nodes) if nodes else "the cluster has no nodes"
    return Shortage(count, len(without), first, f"has no node: {why}", refusals=found)
