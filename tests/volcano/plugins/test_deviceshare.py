"""The deviceshare plugin gives GPU cards, or parts of them, to pods and notes on the pods which ones."""

from typing import Any

from seatrial.model.documents import Document
from seatrial.verify.recorded_cluster import World
from tests.volcano.sessions import binds, cycle, group, node, pod

IDS = "volcano.sh/vgpu-ids-new"
VGPU_NUMBER, VGPU_MEMORY, VGPU_CORES = (f"volcano.sh/vgpu-{part}" for part in ("number", "memory", "cores"))
GEOMETRIES = """
nvidia:
  resourceCountName: volcano.sh/vgpu-number
  resourceMemoryName: volcano.sh/vgpu-memory
  resourceCoreName: volcano.sh/vgpu-cores
  knownMigGeometries:
  - models: [A30]
    allowedGeometries:
    - {group: small, geometries: [{name: 1g.6gb, memory: 6144, count: 4}]}
    - {group: large, geometries: [{name: 2g.12gb, memory: 12288, count: 2}]}
"""
MEMORY, NUMBER, INDEX = "volcano.sh/gpu-memory", "volcano.sh/gpu-number", "volcano.sh/gpu-index"


def conf(kind: str, more: str = "") -> str:
    return f"""
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
  - name: predicates
  - name: deviceshare
    arguments: {{deviceshare.{kind}: true{more}}}
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


def gpu_node(name: str, *cards: str, mode: str = "hami-core") -> Document:
    """A node whose cards are `uuid,number,memory,type`."""
    offered = {VGPU_NUMBER: "10", VGPU_MEMORY: "100000", VGPU_CORES: "400"}
    made = node(name, **offered)
    text = "".join(f"{card},true,{mode}:" for card in cards)
    made["metadata"]["annotations"] = {"volcano.sh/node-vgpu-register": text}
    return made


def part(name: str, annotations: dict[str, str] | None = None, on: str = "", **limits: str) -> Document:
    made = pod(f"{name}-w-0", name, annotations=annotations, on=on, labels={"job": name})
    asked = {f"volcano.sh/vgpu-{key}": amount for key, amount in limits.items()}
    resources = made["spec"]["containers"][0]["resources"]
    resources["limits"] = asked
    resources["requests"] |= asked
    return made


def given(nodes: list[Document], pods: list[Document], more: str = "", **others: Any) -> dict[str, str]:
    """Which devices the pods get."""
    groups = [group(made["metadata"]["name"].partition("-")[0]) for made in pods]
    _, result = cycle(nodes, pods, groups, conf=conf("VGPUEnable", more), **others)
    return {task.name.partition("-")[0]: task.pod_annotations[IDS] for task in result.binds}


def test_pods_get_memory_and_cores_of_a_card_until_it_is_full() -> None:
    nodes = [gpu_node("n1", "g0,10,8000,NVIDIA-A10", "g1,10,8000,NVIDIA-A10")]
    pods = [part(name, number="1", memory="5000", cores="60") for name in "abc"]
    assert given(nodes, pods) == {"a": "g1,NVIDIA,5000,60:", "b": "g0,NVIDIA,5000,60:"}


def test_binpack_fills_the_card_that_a_running_pod_uses() -> None:
    nodes = [gpu_node("n1", "g0,10,8000,NVIDIA-A10", "g1,10,8000,NVIDIA-A10", "g2,10,8000,NVIDIA-A10")]
    pods = [part("a", {IDS: "g1,NVIDIA,2000,0:"}, on="n1", number="1", memory="2000"), part("b", memory="3000")]
    assert given(nodes, pods, ", deviceshare.SchedulePolicy: binpack") == {"b": "g1,NVIDIA,3000,0:"}


def test_a_pod_without_a_memory_request_gets_a_whole_card_of_the_type_it_names() -> None:
    nodes = [gpu_node("n1", "g0,10,8000,NVIDIA-A10", "g1,10,9000,NVIDIA-L40S")]
    pods = [part("a", {"nvidia.com/use-gputype": "a10"}, number="1")]
    assert given(nodes, pods) == {"a": "g0,NVIDIA,8000,0:"}


def test_mig_gives_the_smallest_part_that_is_large_enough_and_keeps_the_split_of_a_card() -> None:
    cards = ("g0,4,24576,NVIDIA-A30", "g1,4,24576,NVIDIA-A30")
    config = {"metadata": {"name": "volcano-vgpu-device-config", "namespace": "kube-system"}, "kind": "ConfigMap"}
    objects = World([{**config, "data": {"device-config.yaml": GEOMETRIES}}], [])
    running = part("a", {IDS: "g1[small-0],NVIDIA,6000,0:"}, on="n1", number="1", memory="6000")
    pods = [running, part("b", number="1", memory="5000"), part("c", number="1", memory="9000")]
    found = given([gpu_node("n1", *cards, mode="mig")], pods, objects=objects)
    assert found == {"b": "g1[small-1],NVIDIA,5000,0:", "c": "g0[large-0],NVIDIA,9000,0:"}


def test_without_a_known_split_cards_of_mig_are_shared_by_memory() -> None:
    nodes = [gpu_node("n1", "g0,4,24576,NVIDIA-A30", mode="mig")]
    assert given(nodes, [part("a", number="1", memory="5000")]) == {"a": "g0,NVIDIA,5000,0:"}


def test_pods_of_an_exclusive_rule_do_not_share_a_card() -> None:
    nodes = [gpu_node("n1", "g0,10,8000,NVIDIA-A10", "g1,10,8000,NVIDIA-A10")]
    pods = [part(name, number="1", memory="1000") for name in "abcd"]
    for made in pods[:3]:
        made["metadata"]["labels"]["team"] = "red"
    found = given(nodes, pods, ", deviceshare.GPUExclusiveRules: [{team: red}]")
    assert {name: text[:2] for name, text in found.items()} == {"a": "g1", "b": "g0", "d": "g1"}


def test_a_queue_holds_what_its_pods_were_given() -> None:
    nodes = [gpu_node("n1", "g0,10,8000,NVIDIA-A10", "g1,10,8000,NVIDIA-A10")]
    running = part("a", {IDS: "g0,NVIDIA,8000,30:g1,NVIDIA,8000,30:"}, on="n1", number="2", cores="30")
    _, result = cycle(nodes, [running], [group("a", phase="Running")], conf=conf("VGPUEnable"))
    assert result.queues["default"][VGPU_MEMORY] == "16k" and result.queues["default"][VGPU_CORES] == "60"
