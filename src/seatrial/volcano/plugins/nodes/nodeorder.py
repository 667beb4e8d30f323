"""nodeorder: kube-scheduler's scores with Volcano's weights. Upstream: plugins/nodeorder/nodeorder.go."""

from seatrial.model.documents import Document
from seatrial.volcano.cache.node_columns import Floats, Rows
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.kube import Score
from seatrial.volcano.framework.plugin import Plugin
from seatrial.volcano.framework.score_sum import ScoreSum


def _strategy(kind: str, weight: int) -> Document:
    resources = [{"name": "cpu", "weight": weight}, {"name": "memory", "weight": weight}]
    return {"scoringStrategy": {"type": kind, "resources": resources}}


_BALANCED: Document = {"resources": [{"name": name, "weight": 1} for name in ("cpu", "memory", "nvidia.com/gpu")]}
_SCORES: tuple[tuple[str, str, int, Document | None], ...] = (
    ("leastrequested.weight", "NodeResourcesFit", 1, _strategy("LeastAllocated", 50)),
    ("mostrequested.weight", "NodeResourcesFit", 0, _strategy("MostAllocated", 1)),
    ("balancedresource.weight", "NodeResourcesBalancedAllocation", 1, _BALANCED),
    ("nodeaffinity.weight", "NodeAffinity", 2, None),
    ("podaffinity.weight", "InterPodAffinity", 2, {"hardPodAffinityWeight": 0}),
    ("tainttoleration.weight", "TaintToleration", 3, None),
    ("podtopologyspread.weight", "PodTopologySpread", 2, {"defaultingType": "System"}),
)
"""Argument, plugin, default weight and arguments of each score that is normalised over the candidates."""


class NodeOrder(Plugin):
    """Sums weighted scores; ImageLocality is scored node by node, the others over all candidates."""

    name = "nodeorder"

    def on_session_open(self) -> None:
        session = self.session
        kube, columns = session.kube, session.kube_kept
        scores = []
        for key, name, default, args in _SCORES:
            weight = self.arguments.integer(key, default)
            if weight:
                scores.append(Score(kube.plugin(name, args), weight, kube, columns))
        self._scores = ScoreSum(scores, kube, columns.by_row, keeps=session.options.keeps_columns)
        weight = self.arguments.integer("imagelocality.weight", 1)
        self._images = Score(kube.plugin("ImageLocality"), weight, kube, columns) if weight else None
        self.add(Point.NODE_ORDER, self._node_score)
        self.add(Point.BATCH_NODE_ORDER, self._scores)

    def _node_score(self, task: TaskInfo, rows: Rows) -> Floats | None:
        if self._images is None or not self.session.kube.table.images.seen:
            return None  # no node reports an image
        return self._images(task, rows, self.session.kube.table.take(rows))
