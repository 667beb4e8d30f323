"""Keeps pods away from noisy nodes, and from crowded ones if there is a choice."""

from seatrial.plugins import Action, NodeInfo, Plugin, PodInfo, requeue


class QuietNodes(Plugin):
    def filter_one(self, pod: PodInfo, node: NodeInfo) -> bool | str:
        return node.labels.get("noisy") != "true" or "node(s) were noisy"

    def score_one(self, pod: PodInfo, node: NodeInfo) -> int:
        return max(0, 100 - 10 * len(node.pods))

    @requeue.on("Node", Action.ADD | Action.UPDATE_NODE_LABEL)
    def quiet_now(self, pod: PodInfo, old: NodeInfo | None, new: NodeInfo) -> bool:
        return new.labels.get("noisy") != "true"
