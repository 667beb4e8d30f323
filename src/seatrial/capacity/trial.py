"""A cluster to try things in: a scenario run to its end, or a snapshot, to which objects are added afterwards."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from seatrial.capacity.refusals import Refusal, Refusals, refusals_of
from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError, SeatrialError
from seatrial.model.kinds import Kind
from seatrial.model.writers import user_writer
from seatrial.scenario import SimulationOptions
from seatrial.scenario.engine import volcano_of
from seatrial.scenario.spec import FAILED
from seatrial.scenario.spec.kind import API_VERSION
from seatrial.scheduler import Decision
from seatrial.simulation import Simulation

WRITER = user_writer("capacity")
GROUP = "scheduling.k8s.io/group-name"
"""The annotation that names the PodGroup of a pod."""
FINISHED = ("Succeeded", "Failed")
NO_SCENARIO: Document = {
    "apiVersion": API_VERSION,
    "kind": "Scenario",
    "metadata": {"name": "capacity"},
    "spec": {"events": []},
}
"""For a snapshot alone: no operation, every controller, and the scheduler."""


class ScenarioFailedError(SeatrialError):
    """The scenario of a question ended Failed, so it has no answer."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What the cluster of a question comes from."""

    options: SimulationOptions
    scenario: Document | None = None
    folder: Path | None = None
    """Where the files are that the scenario's generators read."""
    then: Sequence[Document] = ()
    """Objects that are created in the cluster; pods that are pending before do not count."""


class Trial:
    """A cluster after its scenario. No virtual time passes in the steps that follow."""

    def __init__(self, setting: Setting) -> None:
        self.refusals = Refusals()
        document = setting.scenario or NO_SCENARIO
        options = replace(setting.options, recorder=self.refusals.before)
        simulation = Simulation(document, options, folder=setting.folder)
        simulation.play()
        run, status = simulation.scenario_run, simulation.status
        if status.phase == FAILED or run.scheduler is None or run.engine is None:
            raise ScenarioFailedError(f"scenario {simulation.name} Failed: {status.message}")
        self.store, self._scheduler, self._engine = simulation.store, run.scheduler, run.engine
        self._engine.settings = replace(self._engine.settings, step_duration=0, drain=False)
        self._pods = self.kind("v1", "Pod")
        self._waited_before: frozenset[str] = frozenset()
        if setting.then:
            self._create_all(setting.then)

    def settle(self) -> None:
        """Let controllers and scheduler work until nothing more can be done; pending pods are tried again."""
        major = self._engine.status.major
        for _ in self._engine.step(0 if major is None else major + 1):
            pass

    def _create_all(self, documents: Sequence[Document]) -> None:
        self.settle()
        self._waited_before = frozenset(key_of(pod) for pod in self.pending())
        namespaces = self.kind("v1", "Namespace")
        for document in documents:
            namespace = document["metadata"].get("namespace", "default")
            if self.store.find(namespaces, namespace) is None:
                self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
            if document["kind"] != "Namespace" or self.store.find(namespaces, document["metadata"]["name"]) is None:
                self.create(document)
        self.settle()

    def create(self, document: Document) -> None:
        """Create an object as a user would; SeatrialError where it is not admitted."""
        kind = self.kind(document["apiVersion"], document["kind"])
        namespace = document["metadata"].get("namespace", "default") if kind.namespaced else ""
        self.store.create(kind, document, writer=WRITER, namespace=namespace)

    def pod(self, name: str, namespace: str) -> Document:
        return self.store.get(self._pods, name, namespace).document()

    def has_pod(self, key: str) -> bool:
        """Whether there is a pod `namespace/name`."""
        namespace, _, name = key.partition("/")
        return self.store.find(self._pods, name, namespace) is not None

    def refusal(self, key: str) -> Decision | None:
        """The decision on a pod `namespace/name` without a node, with the verdict of every node where it is there."""
        namespace, _, name = key.partition("/")
        self.refusals.wants_cells = True
        attempt = self._scheduler.propose(namespace, name)
        decision = None if attempt is None or attempt.node else attempt.decision()
        self.refusals.wants_cells = False
        return self.refusals.decisions.get(key) if decision is None else decision

    def unfinished(self) -> Iterator[Document]:
        """Pods that are not over."""
        for stored in self.store.list(self._pods):
            pod = stored.document()
            if (pod.get("status") or {}).get("phase") not in FINISHED:
                yield pod

    def pending(self) -> Iterator[Document]:
        """Pods without a node that are not gated."""
        for pod in self.unfinished():
            spec = pod.get("spec") or {}
            is_placed = spec.get("nodeName") or spec.get("schedulingGates")
            if not is_placed and not (self._waited_before and key_of(pod) in self._waited_before):
                yield pod

    def waiting_jobs(self) -> Iterator[tuple[str, str]]:
        """Jobs of Volcano that wait, which may have no pods yet, with the reason."""
        volcano = volcano_of(self._engine.controllers.simulated)
        for each in volcano.waiting if volcano is not None else ():
            yield each.uid, each.text.removeprefix(f"{each.title} ")

    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.store.list(self.kind("v1", "Node")))

    def all_nodes(self) -> Iterator[Document]:
        """The nodes themselves."""
        yield from (stored.document() for stored in self.store.list(self.kind("v1", "Node")))

    def kind(self, api_version: str, kind: str) -> Kind:
        """A kind that the store serves; ConfigError where it does not."""
        found = self.store.kinds.named(api_version, kind)
        if found is None:
            raise ConfigError("", "kind", f"{api_version} {kind} is not known")
        return found


def key_of(pod: Document) -> str:
    """`namespace/name`."""
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def why_pending(trial: Trial, pod: Document) -> tuple[Refusal, ...]:
    """Why a pod has no node: the verdicts of the scheduler, else what another scheduler says of its job or of it."""
    metadata = pod["metadata"]
    decision = trial.refusal(key_of(pod))
    if decision is not None:
        return tuple(refusals_of(decision))
    job = f"{metadata['namespace']}/{(metadata.get('annotations') or {}).get(GROUP)}"
    for name, why in trial.waiting_jobs():
        if name == job:
            return (Refusal("", f"its job {why}", 0),)
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("message"):
            return (Refusal("", condition["message"], 0),)
    return (Refusal("", f"no scheduler takes pods with schedulerName {pod['spec'].get('schedulerName')}", 0),)
