"""Small clusters for tests of the scheduling cycle: nodes and pods in a line each."""

from collections.abc import Mapping
from typing import Any

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.cache.pod_info import PodInfo, PodReader, replace_pod
from seatrial.scheduler.config import load_configuration
from seatrial.scheduler.framework.interface import Handle, Plugin
from seatrial.scheduler.framework.runtime import Framework
from seatrial.scheduler.plugins.registry import Registry, points_of
from seatrial.scheduler.queue import PodNominator
from seatrial.scheduler.schedule_one.schedule_one import Algorithm, Attempt
from seatrial.scheduler.schedule_one.select_host import TieBreak


def a_node(name: str, cpu: str = "4", memory: str = "8Gi", pods: str = "110", **labels: str) -> Document:
    """A node document; labels are given with `_` for `-`."""
    named = {"kubernetes.io/hostname": name} | {key.replace("_", "-"): value for key, value in labels.items()}
    return {
        "metadata": {"name": name, "labels": named},
        "spec": {},
        "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": pods}},
    }


def a_pod(name: str, cpu: str | None = "100m", labels: Mapping[str, str] | None = None, **spec: Any) -> Document:
    """A pod document in the namespace default."""
    container: Document = {"name": "c", "image": "pause"}
    if cpu is not None:
        container["resources"] = {"requests": {"cpu": cpu, "memory": "64Mi"}}
    metadata = {"name": name, "namespace": "default", "uid": name, "labels": dict(labels or {})}
    return {"metadata": metadata, "spec": {"containers": [container], "priority": 0} | spec}


class PlainObjects:
    """Objects beside nodes and pods, by kind."""

    def __init__(self, **kinds: list[Document]) -> None:
        self.kinds = kinds
        self.versions: dict[str, int] = {}

    def list(self, kind: str, namespace: str | None = None) -> list[Document]:
        return self.kinds.get(kind, [])

    def get(self, kind: str, name: str, namespace: str = "") -> Document | None:
        return next((d for d in self.list(kind) if d["metadata"]["name"] == name), None)

    @property
    def changes(self) -> int:
        return sum(self.versions.values())

    def version(self, kind: str) -> int:
        return self.versions.get(kind, 0)


class SmallCluster:
    """Nodes, pods and one scheduler that decides but does not act."""

    def __init__(
        self,
        *nodes: Document,
        config: Document | None = None,
        objects: PlainObjects | None = None,
        plugins: tuple[type[Plugin], ...] = (),
        tie_break: str = "upstream",
    ) -> None:
        self.table = NodeTable()
        self.reader = PodReader()
        self.pending: dict[str, PodInfo] = {}
        self.nominator = PodNominator(lambda pod: self.pending.get(pod.uid))
        for node in nodes:
            self.table.add_node(NodeInfo.read(node))
        known = {plugin.__name__: points_of(plugin) for plugin in plugins}
        configuration = load_configuration(config, plugins=known)
        handle = Handle(objects or PlainObjects(), self.table, self.nominator, now=lambda: 10**15)
        self.framework = Framework.build(configuration.profiles[0], Registry(plugins), handle)
        percentage = configuration.percentage_of_nodes_to_score
        self.algorithm = Algorithm(self.table, self.nominator, percentage=percentage, tie_break=TieBreak(tie_break))

    def bound(self, document: Document, node: str, start: int = 0) -> PodInfo:
        """Puts a pod on a node."""
        pod = replace_pod(self.reader.read(document), node=node, start_time=start)
        self.table.add_pod(pod)
        return pod

    def nominated(self, document: Document, node: str) -> PodInfo:
        """A pending pod that is nominated to a node."""
        pod = replace_pod(self.reader.read(document), nominated_node=node)
        self.pending[pod.uid] = pod
        self.nominator.nominate(pod)
        return pod

    def attempt(self, document: Document | PodInfo, cells: bool = True) -> Attempt:
        """One cycle for a pod."""
        pod = document if isinstance(document, PodInfo) else self.reader.read(document)
        return self.algorithm.schedule(self.framework, pod, lambda visited: cells)

    def scores(self, document: Document, plugin: str) -> list[int]:
        """A plugin's normalised scores, by the order of the search."""
        scored = self.attempt(document).scored
        assert scored is not None
        return next(part.normalized.tolist() for part in scored.parts if part.plugin == plugin)

    def rejections(self, document: Document) -> dict[str, tuple[str, ...]]:
        """Why each node is rejected that is."""
        return {name: status.reasons for name, status in self.attempt(document).decision().rejected()}
