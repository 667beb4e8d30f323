"""metrics.k8s.io for `kubectl top` and autoscalers: usage from requests, or from an annotation."""

from collections.abc import Iterable

from seatrial.controllers import node_metrics, pod_metrics
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.field_selectors import FieldSelector
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import LabelSelector
from seatrial.server.extension_points import RouteTable
from seatrial.server.messages import Answer, Request, json_answer
from seatrial.store import Store, Stored

GROUP, VERSION = "metrics.k8s.io", "v1beta1"
ROOT = f"/apis/{GROUP}/{VERSION}/"
NODES = Kind(GROUP, VERSION, "NodeMetrics", "nodes", namespaced=False, verbs=("get", "list"))
PODS = Kind(GROUP, VERSION, "PodMetrics", "pods", verbs=("get", "list"))


class MetricsApi:
    """The current usage of pods and nodes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._nodes, self._pods = store.kinds.named("v1", "Node"), store.kinds.named("v1", "Pod")
        for kind in (NODES, PODS):
            store.kinds.add(kind)
        self.routes = RouteTable()
        self.routes.add("GET", ROOT, self._answer)

    async def _answer(self, request: Request) -> Answer:
        match request.path.removeprefix(ROOT).split("/"):
            case ["nodes"]:
                return self._list("NodeMetricsList", self._node_metrics(self._select(self._nodes, "", request)))
            case ["nodes", name]:
                return self._one(self._node_metrics(self._select(self._nodes, "", request)), name, NODES)
            case ["pods"]:
                return self._list("PodMetricsList", self._pod_metrics(self._select(self._pods, "", request)))
            case ["namespaces", namespace, "pods"]:
                return self._list("PodMetricsList", self._pod_metrics(self._select(self._pods, namespace, request)))
            case ["namespaces", namespace, "pods", name]:
                return self._one(self._pod_metrics(self._select(self._pods, namespace, request)), name, PODS)
        raise NotFound("the server could not find the requested resource")

    def _select(self, kind: Kind | None, namespace: str, request: Request) -> list[Stored]:
        assert kind is not None
        labels, fields = request.query.get("labelSelector"), request.query.get("fieldSelector")
        return self._store.list(
            kind,
            namespace,
            LabelSelector.parse(labels) if labels else None,
            FieldSelector.parse(fields) if fields else None,
        )

    def _pod_metrics(self, pods: Iterable[Stored]) -> list[Document]:
        now = self._store.clock.now()
        found = (pod_metrics(stored.document(), now) for stored in pods)
        return [metrics for metrics in found if metrics is not None]

    def _node_metrics(self, nodes: Iterable[Stored]) -> list[Document]:
        assert self._pods is not None
        now = self._store.clock.now()
        on_node: dict[str, list[Document]] = {}
        for stored in self._store.list(self._pods):
            pod = stored.document()
            on_node.setdefault(pod["spec"].get("nodeName", ""), []).append(pod)
        return [node_metrics(stored.document(), on_node.get(stored.name, []), now) for stored in nodes]

    @staticmethod
    def _list(kind: str, items: list[Document]) -> Answer:
        return json_answer({"kind": kind, "apiVersion": f"{GROUP}/{VERSION}", "metadata": {}, "items": items})

    @staticmethod
    def _one(items: list[Document], name: str, kind: Kind) -> Answer:
        for item in items:
            if item["metadata"]["name"] == name:
                return json_answer(item)
        raise NotFound(f'{kind.resource} "{name}" not found', group=GROUP, kind=kind.plural, name=name)
