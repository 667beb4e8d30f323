"""A filter that rejects no node when its column is made has reasons for those that it rejects later."""

from typing import Any

import pytest

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from tests.scheduler.cluster_builders import SmallCluster, a_node, a_pod

TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}


def with_spec(node: Document, **spec: Any) -> NodeInfo:
    return NodeInfo.read({**node, "spec": spec})


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"taints": [TAINT]}, "node(s) had untolerated taint(s)"),
        ({"unschedulable": True}, "node(s) were unschedulable"),
    ],
)
@pytest.mark.parametrize("changed", [1, 8], ids=["one node", "many nodes"])
def test_nodes_that_change_after_the_column_was_made_are_rejected_with_the_reason(
    spec: dict[str, Any], reason: str, changed: int
) -> None:
    nodes = [a_node(f"n{number:02}") for number in range(40)]
    cluster = SmallCluster(*nodes)
    for name in ("first", "second"):
        assert not cluster.rejections(a_pod(name))
    for node in nodes[:changed]:
        cluster.table.update_node(with_spec(node, **spec))
    expected = {f"n{number:02}": (reason,) for number in range(changed)}
    assert cluster.rejections(a_pod("third")) == expected
