"""Extenders that lead both schedulers to the same nodes and victims."""

from typing import Any

from tests.outside.whole_runs.builders import HOST, node, pod, priority_class
from tests.outside.whole_runs.shape import Document, Shape, create, delete, patch


def number(name: str) -> int:
    return int(name[1:])


def by_name(verb: str, args: Any) -> Any:
    """Refuses every third node and likes high numbers; told names alone."""
    names = args["NodeNames"]
    if verb == "prioritize":
        return [{"Host": name, "Score": number(name)} for name in names]
    refused = {name: "not a third time" for name in names if number(name) % 3 == 0}
    return {"NodeNames": [name for name in names if name not in refused], "FailedNodes": refused}


def whole(verb: str, args: Any) -> Any:
    """The same, told whole nodes; it looks at their labels."""
    items = args["Nodes"]["Items" if "Items" in args["Nodes"] else "items"]
    if verb == "prioritize":
        return [{"Host": item["metadata"]["name"], "Score": number(item["metadata"]["name"])} for item in items]
    kept = [item for item in items if item["metadata"].get("labels", {}).get("refused") != "yes"]
    refused = {item["metadata"]["name"]: "refused by label" for item in items if item not in kept}
    return {"Nodes": {"items": kept}, "FailedAndUnresolvableNodes": refused}


def preempting(verb: str, args: Any) -> Any:
    """Filters nothing, and lets victims leave node n2 alone."""
    if verb == "preempt":
        victims = args["NodeNameToMetaVictims"]
        return {"NodeNameToMetaVictims": {name: found for name, found in victims.items() if name == "n2"}}
    return {"NodeNames": args["NodeNames"], "FailedNodes": {}}


def extended(**settings: Any) -> Document:
    return {"extenders": [{"filterVerb": "filter", "weight": 3, **settings}]}


NODES = create(*(node(f"n{number}", cpu="2") for number in range(1, 7)))

SHAPES = (
    Shape(
        "an extender that knows the nodes",
        (
            NODES,
            *(create(pod(f"p{number}", cpu="500m")) for number in range(6)),
            create(pod("large", cpu="3"), pod("picky", nodeSelector={HOST: "n3"})),
            delete("Pod", "p0"),
            patch("Node", "n3", {"metadata": {"annotations": {"note": "1"}}}),
        ),
        config=extended(prioritizeVerb="prioritize", nodeCacheCapable=True),
        extender=by_name,
        expects=lambda pods: bool(pods["p5"]["node"]) and not pods["picky"]["node"],
    ),
    Shape(
        "an extender that is sent the nodes",
        (
            NODES,
            patch("Node", "n6", {"metadata": {"labels": {"refused": "yes"}}}),
            *(create(pod(f"p{number}", cpu="500m")) for number in range(6)),
            create(pod("picky", nodeSelector={HOST: "n6"})),
            patch("Node", "n6", {"metadata": {"labels": {"refused": None}}}),
        ),
        config=extended(prioritizeVerb="prioritize"),
        extender=whole,
        is_quick=True,
        expects=lambda pods: pods["picky"]["node"] == "n6",
    ),
    Shape(
        "an extender chooses the node for a preemption",
        (
            create(priority_class("low", 10), priority_class("high", 1000), node("n1", cpu="1"), node("n2", cpu="1")),
            *(create(pod(f"v{n}", cpu="1", priorityClassName="low", nodeSelector={HOST: f"n{n}"})) for n in (1, 2)),
            create(pod("high", cpu="1", priorityClassName="high")),
        ),
        config=extended(preemptVerb="preempt", nodeCacheCapable=True),
        extender=preempting,
        expects=lambda pods: pods["high"]["node"] == "n2",
    ),
)
