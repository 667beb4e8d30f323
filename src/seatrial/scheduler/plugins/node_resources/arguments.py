"""The arguments of NodeResourcesFit and NodeResourcesBalancedAllocation."""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.label_selectors import label_key_faults
from seatrial.scheduler.config.arguments import Arguments, Gates
from seatrial.scheduler.config.field_errors import duplicate, forbidden, invalid, required, unsupported
from seatrial.scheduler.config.shapes import STRING, Field, Listing, Record, pointer
from seatrial.scheduler.config.types import RESOURCES, UTILIZATION_SHAPE
from seatrial.scheduler.versions import Rules

_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
_SCORING_STRATEGY = Record(
    "v1.ScoringStrategy",
    {
        "type": Field(STRING),
        "resources": Field(RESOURCES),
        "requestedToCapacityRatio": pointer(
            Record("v1.RequestedToCapacityRatioParam", {"shape": Field(UTILIZATION_SHAPE)}),
        ),
    },
)


def _balanced_defaults(args: Document, gates: Gates) -> None:
    args["resources"] = _weighted(args.get("resources"))


def _fit_defaults(args: Document, gates: Gates) -> None:
    strategy = args.setdefault("scoringStrategy", {"type": "LeastAllocated"})
    strategy["resources"] = _weighted(strategy.get("resources"))


def _weighted(resources: list[Document] | None) -> list[Document]:
    if not resources:
        return [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
    for resource in resources:
        resource["weight"] = resource.get("weight") or 1
    return resources


def _balanced_problems(args: Document, path: str, gates: Gates) -> Iterator[str]:
    seen = set()
    for index, resource in enumerate(args["resources"]):
        name = resource.get("name", "")
        if name in seen:
            yield duplicate(f"{path}.resources[{index}].name", name)
        seen.add(name)
        if resource["weight"] != 1:
            yield invalid(f"{path}.resources[{index}].weight", resource["weight"], "must be 1")


def _fit_problems(args: Document, rules: Rules) -> Iterator[str]:
    """What building NodeResourcesFit finds in its arguments; paths start at the arguments."""
    for index, name in enumerate(args.get("ignoredResources", ())):
        yield from (invalid(f"ignoredResources[{index}]", name, why) for why in label_key_faults(name))
    for index, group in enumerate(args.get("ignoredResourceGroups", ())):
        path = f"ignoredResourceGroups[{index}]"
        if "/" in group:
            yield invalid(path, group, "resource group name can't contain '/'")
        yield from (invalid(path, group, why) for why in label_key_faults(group))
    yield from _strategy_problems(args["scoringStrategy"], rules)


def _strategy_problems(strategy: Document, rules: Rules) -> Iterator[str]:
    kind = strategy.get("type", "")
    if kind not in _STRATEGIES:
        yield unsupported("scoringStrategy.type", kind, _STRATEGIES)
    for index, resource in enumerate(strategy["resources"]):
        if not 0 < resource["weight"] <= 100:
            detail = f"resource weight of {resource.get('name', '')} not in valid range (0, 100]"
            yield invalid(f"scoringStrategy.resources[{index}].weight", resource["weight"], detail)
    ratio = strategy.get("requestedToCapacityRatio")
    path = "scoringStrategy.requestedToCapacityRatio"
    if not rules.checks_ratio_by_type:
        if ratio is not None:
            yield from shape_problems(ratio.get("shape", []), "scoringStrategy.shape")
    elif kind == "RequestedToCapacityRatio":
        if ratio is None:
            yield required(path, "must be specified when type is RequestedToCapacityRatio")
        else:
            yield from shape_problems(ratio.get("shape", []), f"{path}.shape")
    elif ratio is not None:
        yield forbidden(path, "must be nil when type is not RequestedToCapacityRatio")


def shape_problems(shape: list[Document], path: str) -> Iterator[str]:
    """What is wrong with a function of the utilization (validateFunctionShape)."""
    if not shape:
        yield required(path, "at least one point must be specified")
        return
    points = [(point.get("utilization", 0), point.get("score", 0)) for point in shape]
    for index in range(1, len(points)):
        if points[index - 1][0] >= points[index][0]:
            yield invalid(f"{path}[{index}].utilization", points[index][0], "values must be sorted in increasing order")
            break
    for index, (utilization, score) in enumerate(points):
        if not 0 <= utilization <= 100:
            yield invalid(f"{path}[{index}].utilization", utilization, "not in valid range [0, 100]")
        if not 0 <= score <= 10:
            yield invalid(f"{path}[{index}].score", score, "not in valid range [0, 10]")


BALANCED_ALLOCATION = Arguments(
    "NodeResourcesBalancedAllocation",
    {"resources": Field(RESOURCES)},
    defaults=_balanced_defaults,
    problems=_balanced_problems,
)
FIT = Arguments(
    "NodeResourcesFit",
    {
        "ignoredResources": Field(Listing(STRING)),
        "ignoredResourceGroups": Field(Listing(STRING)),
        "scoringStrategy": pointer(_SCORING_STRATEGY),
    },
    defaults=_fit_defaults,
    build_problems=_fit_problems,
)
