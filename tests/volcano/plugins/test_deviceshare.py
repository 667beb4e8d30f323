"""The deviceshare plugin gives GPU cards to pods and notes on them which ones."""

from seatrial.model.documents import Document
from tests.volcano.sessions import binds, cycle, group, node, pod

MEMORY, NUMBER, INDEX = "volcano.sh/gpu-memory", "volcano.sh/gpu-number", "volcano.sh/gpu-index"


def conf(kind: str) -> str:
    return f"""
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
  - name: predicates
  - name: deviceshare
    arguments: {{deviceshare.{kind}: true}}
"""


def asking(name: str, amount: str, resource: str = MEMORY) -> Document:
    made = pod(f"{name}-w-0", name)
    resources = made["spec"]["containers"][0]["resources"]
    resources["limits"] = {resource: amount}
    resources["requests"][resource] = amount
    return made


def test_memory_of_several_cards_does_not_add_up() -> None:
    nodes = [node("n1", **{MEMORY: "16", NUMBER: "2"})]
    session, result = cycle(nodes, [asking("a", "9")], [group("a")], conf=conf("GPUSharingEnable"))
    assert not result.binds
    message = session.jobs["default/a"].nodes_fit_errors["uid-a-w-0"].message()
    assert "GpuShare no enough gpu memory on node n1" in message


def test_pods_share_a_card_and_are_told_which() -> None:
    nodes = [node("n1", **{MEMORY: "16", NUMBER: "2"})]
    pods = [asking("a", "5"), asking("b", "3"), asking("c", "2")]
    _, result = cycle(nodes, pods, [group(name) for name in "abc"], conf=conf("GPUSharingEnable"))
    assert {task.name: task.pod_annotations[INDEX] for task in result.binds} == {
        "a-w-0": "0",
        "b-w-0": "0",
        "c-w-0": "1",
    }


def test_whole_cards_are_not_shared() -> None:
    nodes = [node("n1", **{MEMORY: "16", NUMBER: "2"})]
    pods = [asking("a", "1", NUMBER), asking("b", "2", NUMBER)]
    _, result = cycle(nodes, pods, [group(name) for name in "ab"], conf=conf("GPUNumberEnable"))
    assert binds(result) == {"a-w-0": "n1"}
