"""Opportunistic batching: equal pods that fill a node each follow each other down one list of nodes.

By default all pods are spread, so that none is signed: the profile here has no default constraints. The pods share a
claim that comes last, and so they are tried right after each other, well within the half second that a list is kept.
"""

from tests.outside.objects import node
from tests.outside.whole_runs.shape import Document, Shape, Step, create, delete, patch
from tests.outside.whole_runs.shapes import volumes

ARGS = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "PodTopologySpreadArgs", "defaultingType": "List"}
CONFIG = {"profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": ARGS}]}]}
BATCHING = {"OpportunisticBatching": True}


def users(*names: str, cpu: str = "1") -> Step:
    return create(*(volumes.user(name, "shared", cpu=cpu) for name in names))


def bound_claim() -> Document:
    claim = volumes.claim("shared")
    claim["metadata"]["annotations"] = {volumes.BOUND: "yes"}
    claim["spec"]["volumeName"] = "disk"
    claim["spec"]["accessModes"] = ["ReadWriteMany"]
    return claim


def disk() -> Document:
    volume = volumes.volume("disk", "n1")
    del volume["spec"]["nodeAffinity"]
    volume["spec"]["accessModes"] = ["ReadWriteMany"]
    volume["spec"]["claimRef"] = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "shared"}
    return volume


def nodes(number: int, **more: str) -> Step:
    return create(*(node(f"n{place}", **{"cpu": "1", **more}) for place in range(number)))


SHAPES = (
    Shape(
        "equal pods go down one list of nodes",
        (nodes(6), create(volumes.storage_class(), disk()), users("a", "b", "c", "d"), create(bound_claim())),
        config=CONFIG,
        gates=BATCHING,
        pause=1.5,
        is_quick=True,
        # Without batching they would take n0, n1, n2 and n3.
        expects=lambda pods: [pods[name]["node"] for name in "abcd"] == ["n0", "n5", "n4", "n3"],
    ),
    Shape(
        "the list ends where a pod differs or a node has room",
        (
            nodes(5, cpu="2"),
            create(volumes.storage_class(), disk()),
            users("a", "b", cpu="2"),
            users("c", "d", "e"),
            users("f", cpu="2"),
            create(bound_claim()),
            delete("Pod", "a"),
            patch("Node", "n0", {"spec": {"unschedulable": True}}),
        ),
        config=CONFIG,
        gates=BATCHING,
        pause=1.5,
        expects=lambda pods: all(pod["node"] for pod in pods.values()),
    ),
    Shape(
        "default constraints leave pods without a signature",
        (nodes(4), create(volumes.storage_class(), disk()), users("a", "b", "c"), create(bound_claim())),
        gates=BATCHING,
        pause=1.5,
        expects=lambda pods: [pods[name]["node"] for name in "abc"] == ["n0", "n1", "n2"],
    ),
)
