"""Extenders with and without a node cache: what they are sent, and what their answers come to."""

from typing import Any

from tests.outside.objects import node, pod
from tests.outside.whole_runs.shape import Document, Shape, create, patch

ASKED = {"filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 1}
STRANGER: Document = {
    "metadata": {"name": "stranger"},
    "status": {"allocatable": {"cpu": "100", "memory": "100Gi", "pods": "10"}},
}


def name_of(item: Document) -> str:
    return str(item["metadata"]["name"])


def with_nodes(verb: str, args: Any) -> Any:
    """Keeps all nodes but `no`, in the order of their names, and marks `new`; scores so that no two nodes tie."""
    items = sorted(args["Nodes"]["items"], key=name_of)
    if verb == "prioritize":
        return [{"Host": name_of(item), "Score": place % 2} for place, item in enumerate(items)]
    kept = [item for item in items if name_of(item) != "no"]
    for item in kept:
        if name_of(item) == "new":
            item["metadata"]["labels"]["disk"] = "ssd"
    return {"Nodes": {"items": kept}, "FailedNodes": {"no": "the extender says no"}}


def with_names(verb: str, args: Any) -> Any:
    names = sorted(args["NodeNames"])
    if verb == "prioritize":
        return [{"Host": name, "Score": 10 - place} for place, name in enumerate(names)]
    return {"NodeNames": [name for name in names if name != "no"], "FailedAndUnresolvableNodes": {"no": "never"}}


def with_a_stranger(verb: str, args: Any) -> Any:
    wants_it = args["Pod"]["metadata"]["name"].startswith("stranger")
    return {"Nodes": {"items": [STRANGER]} if wants_it else args["Nodes"]}


def silently_none(verb: str, args: Any) -> Any:
    """Rejects all nodes of a pod without a reason until one has the label `ok`."""
    labelled = [item for item in args["Nodes"]["items"] if "ok" in item["metadata"]["labels"]]
    return {"Nodes": {"items": labelled}}


def image_on(name: str) -> Document:
    return {"status": {"images": [{"names": ["example.com/image:latest"], "sizeBytes": 900_000_000}]}}


PREFERS_SSD = {
    "nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 5, "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}}
        ]
    }
}

SHAPES = (
    Shape(
        "an extender that gives whole nodes back",
        (
            create(node("a", cpu="4"), node("b", cpu="8"), node("new", cpu="2"), node("no", cpu="64")),
            patch("Node", "b", image_on("b"), subresource="status"),
            create(*(pod(f"p{number}", cpu="700m") for number in range(5))),
            create(pod("ssd", cpu="100m", affinity=PREFERS_SSD)),
            create(pod("elsewhere", nodeSelector={"kubernetes.io/hostname": "no"})),
            patch("Node", "a", {"metadata": {"labels": {"zone": "z"}}}),
        ),
        {"extenders": [ASKED]},
        extender=with_nodes,
        expects=lambda pods: bool(pods["p4"]["node"]) and not pods["elsewhere"]["node"],
    ),
    Shape(
        "an extender that gives names back",
        (
            create(node("a", cpu="4"), node("b", cpu="4"), node("no", cpu="64")),
            create(*(pod(f"p{number}", cpu="700m") for number in range(4))),
            create(pod("elsewhere", nodeSelector={"kubernetes.io/hostname": "no"})),
            create(pod("large", cpu="8")),
        ),
        {"extenders": [{**ASKED, "nodeCacheCapable": True}]},
        extender=with_names,
        expects=lambda pods: bool(pods["p3"]["node"]) and not pods["large"]["node"],
    ),
    Shape(
        "an extender that gives a node back which is not there",
        (
            create(node("a")),
            create(pod("p"), pod("stranger-1"), pod("stranger-2", cpu="64")),
            create(pod("q")),
        ),
        {"extenders": [{"filterVerb": "filter"}]},
        extender=with_a_stranger,
        starts_pods=False,
        expects=lambda pods: pods["stranger-1"]["node"] == "stranger" and pods["p"]["node"] == "a",
    ),
    Shape(
        "an extender that drops nodes without a reason",
        (
            create(node("a")),
            create(pod("p")),
            patch("Node", "a", {"metadata": {"labels": {"x": "y"}}}),
            patch("Node", "a", {"metadata": {"labels": {"ok": "y"}}}),
        ),
        {"extenders": [{"filterVerb": "filter"}]},
        extender=silently_none,
        expects=lambda pods: pods["p"]["node"] == "a",
    ),
)
