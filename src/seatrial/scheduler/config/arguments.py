"""Arguments of the in-tree plugins: their defaults and what is wrong with them.

Upstream: pkg/scheduler/apis/config/v1/defaults.go and apis/config/validation/validation_pluginargs.go (v1.36.3).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.durations import parse_duration
from seatrial.model.label_selectors import label_key_faults, label_value_faults
from seatrial.model.times import SECOND
from seatrial.scheduler.config.field_errors import aggregate, duplicate, forbidden, invalid, required, unsupported
from seatrial.scheduler.config.types import ARGUMENTS, V1

_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
_SELECTOR_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")


def _cpu_and_memory() -> list[Document]:
    return [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]


def set_defaults(plugin: str, args: Document) -> None:
    """Fill in what the arguments of an in-tree plugin leave out; `args` is changed."""
    if plugin not in ARGUMENTS:
        return
    args.setdefault("apiVersion", V1)
    args.setdefault("kind", f"{plugin}Args")
    match plugin:
        case "DefaultPreemption":
            args.setdefault("minCandidateNodesPercentage", 10)
            args.setdefault("minCandidateNodesAbsolute", 100)
        case "DynamicResources":
            args.setdefault("filterTimeout", "10s")
            args.setdefault("bindingTimeout", "10m0s")
        case "InterPodAffinity":
            args.setdefault("hardPodAffinityWeight", 1)
        case "VolumeBinding":
            args.setdefault("bindTimeoutSeconds", 600)
        case "NodeResourcesBalancedAllocation":
            args["resources"] = _weighted(args.get("resources"))
        case "PodTopologySpread":
            args["defaultingType"] = args.get("defaultingType") or "System"
        case "NodeResourcesFit":
            strategy = args.setdefault("scoringStrategy", {"type": "LeastAllocated"})
            strategy["resources"] = _weighted(strategy.get("resources"))


def _weighted(resources: list[Document] | None) -> list[Document]:
    if not resources:
        return _cpu_and_memory()
    for resource in resources:
        resource["weight"] = resource.get("weight") or 1
    return resources


def problems_of(plugin: str, args: Document, path: str) -> Iterator[str]:
    """What validation finds in the arguments of a plugin (NodeResourcesFit's are looked at when it is built)."""
    check = _CHECKS.get(plugin)
    if check is not None:
        yield from check(args, path)


def fit_problems(args: Document) -> Iterator[str]:
    """What building NodeResourcesFit finds in its arguments; paths start at the arguments."""
    for index, name in enumerate(args.get("ignoredResources", ())):
        yield from (invalid(f"ignoredResources[{index}]", name, why) for why in label_key_faults(name))
    for index, group in enumerate(args.get("ignoredResourceGroups", ())):
        path = f"ignoredResourceGroups[{index}]"
        if "/" in group:
            yield invalid(path, group, "resource group name can't contain '/'")
        yield from (invalid(path, group, why) for why in label_key_faults(group))
    yield from _strategy_problems(args["scoringStrategy"])


def _strategy_problems(strategy: Document) -> Iterator[str]:
    kind = strategy.get("type", "")
    if kind not in _STRATEGIES:
        yield unsupported("scoringStrategy.type", kind, _STRATEGIES)
    for index, resource in enumerate(strategy["resources"]):
        if not 0 < resource["weight"] <= 100:
            detail = f"resource weight of {resource.get('name', '')} not in valid range (0, 100]"
            yield invalid(f"scoringStrategy.resources[{index}].weight", resource["weight"], detail)
    ratio = strategy.get("requestedToCapacityRatio")
    path = "scoringStrategy.requestedToCapacityRatio"
    if kind == "RequestedToCapacityRatio":
        if ratio is None:
            yield required(path, "must be specified when type is RequestedToCapacityRatio")
        else:
            yield from _shape_problems(ratio.get("shape", []), f"{path}.shape")
    elif ratio is not None:
        yield forbidden(path, "must be nil when type is not RequestedToCapacityRatio")


def _shape_problems(shape: list[Document], path: str) -> Iterator[str]:
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


def _preemption_problems(args: Document, path: str) -> Iterator[str]:
    percentage, absolute = args["minCandidateNodesPercentage"], args["minCandidateNodesAbsolute"]
    percentage_path, absolute_path = f"{path}.minCandidateNodesPercentage", f"{path}.minCandidateNodesAbsolute"
    if not 0 <= percentage <= 100:
        yield invalid(percentage_path, percentage, "not in valid range [0, 100]")
    if absolute < 0:
        yield invalid(absolute_path, absolute, "not in valid range [0, inf)")
    if percentage == absolute == 0:
        yield invalid(percentage_path, 0, "cannot be zero at the same time as minCandidateNodesAbsolute")
        yield invalid(absolute_path, 0, "cannot be zero at the same time as minCandidateNodesPercentage")


def _pod_affinity_problems(args: Document, path: str) -> Iterator[str]:
    weight = args["hardPodAffinityWeight"]
    if not 0 <= weight <= 100:
        yield invalid(f"{path}.hardPodAffinityWeight", weight, "not in valid range [0, 100]")


def _balanced_problems(args: Document, path: str) -> Iterator[str]:
    seen = set()
    for index, resource in enumerate(args["resources"]):
        name = resource.get("name", "")
        if name in seen:
            yield duplicate(f"{path}.resources[{index}].name", name)
        seen.add(name)
        if resource["weight"] != 1:
            yield invalid(f"{path}.resources[{index}].weight", resource["weight"], "must be 1")


def _binding_problems(args: Document, path: str) -> Iterator[str]:
    timeout = args["bindTimeoutSeconds"]
    if timeout < 0:
        detail = "invalid BindTimeoutSeconds, should not be a negative value"
        yield invalid(f"{path}.bindTimeoutSeconds", timeout, detail)
    if "shape" in args:
        points = [{"Utilization": p.get("utilization", 0), "Score": p.get("score", 0)} for p in args["shape"]]
        detail = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
        yield invalid(f"{path}.shape", points, detail)


def _resources_problems(args: Document, path: str) -> Iterator[str]:
    if parse_duration(args["filterTimeout"]) < 0:
        yield invalid(f"{path}.filterTimeout", args["filterTimeout"], "must be zero or positive")
    if parse_duration(args["bindingTimeout"]) < SECOND:
        yield invalid(f"{path}.bindingTimeout", args["bindingTimeout"], "must be at least 1 second")


def _spread_problems(args: Document, path: str) -> Iterator[str]:
    constraints = args.get("defaultConstraints", [])
    kind = args["defaultingType"]
    if kind not in ("System", "List"):
        yield unsupported(f"{path}.defaultingType", kind, ("System", "List"))
    elif kind == "System" and constraints:
        yield invalid(f"{path}.defaultingType", kind, "when .defaultConstraints are not empty")
    seen = set()
    for index, constraint in enumerate(constraints):
        where = f"{path}.defaultConstraints[{index}]"
        key, action = constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")
        yield from _constraint_problems(constraint, where)
        if (key, action) in seen:
            yield duplicate(where, f"{{{key}, {action}}}")
        seen.add((key, action))


def _constraint_problems(constraint: Document, path: str) -> Iterator[str]:
    key, action = constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")
    if constraint.get("maxSkew", 0) <= 0:
        yield invalid(f"{path}.maxSkew", constraint.get("maxSkew", 0), "not in valid range (0, inf)")
    if not key:
        yield required(f"{path}.topologyKey", "can not be empty")
    else:
        yield from (invalid(f"{path}.topologyKey", key, why) for why in label_key_faults(key))
    if not action:
        yield required(f"{path}.whenUnsatisfiable", "can not be empty")
    elif action not in _ACTIONS:
        yield unsupported(f"{path}.whenUnsatisfiable", action, _ACTIONS)
    if "labelSelector" in constraint:
        yield forbidden(f"{path}.labelSelector", "constraint must not define a selector, as they deduced for each pod")


def _affinity_problems(args: Document, path: str) -> Iterator[str]:
    affinity = args.get("addedAffinity") or {}
    where = f"{path}.addedAffinity"
    needed = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for index, term in enumerate(needed.get("nodeSelectorTerms", ())):
        yield from _term_problems(
            term, f"{where}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[{index}]"
        )
    for index, preferred in enumerate(affinity.get("preferredDuringSchedulingIgnoredDuringExecution", ())):
        if preferred.get("weight", 0):
            yield from _term_problems(
                preferred.get("preference", {}), f"{where}.preferredDuringSchedulingIgnoredDuringExecution[{index}]"
            )


def _term_problems(term: Document, path: str) -> Iterator[str]:
    for index, expression in enumerate(term.get("matchExpressions", ())):
        found = list(_expression_problems(expression, f"{path}.matchExpressions[{index}]"))
        if found:
            yield from found
    for index, expression in enumerate(term.get("matchFields", ())):
        where = f"{path}.matchFields[{index}]"
        operator, values = expression.get("operator", ""), expression.get("values")
        if operator not in ("In", "NotIn"):
            yield unsupported(f"{where}.operator", operator, ("In", "NotIn"))
        elif len(values or ()) != 1:
            yield invalid(f"{where}.values", values, "must have one element")


def _expression_problems(expression: Document, path: str) -> Iterator[str]:
    key, operator, values = expression.get("key", ""), expression.get("operator", ""), expression.get("values")
    given = values or []
    if operator not in _SELECTOR_OPERATORS:
        yield unsupported(f"{path}.operator", operator, _SELECTOR_OPERATORS)
        return
    why_not = label_key_faults(key)
    if why_not:
        yield invalid(f"{path}.key", key, "; ".join(why_not))
    if operator in ("In", "NotIn") and not given:
        yield invalid(f"{path}.values", values, "for 'in', 'notin' operators, values set can't be empty")
    elif operator in ("Exists", "DoesNotExist") and given:
        yield invalid(f"{path}.values", values, "values set must be empty for exists and does not exist")
    elif operator in ("Gt", "Lt"):
        if len(given) != 1:
            yield invalid(f"{path}.values", values, "for 'Gt', 'Lt' operators, exactly one value is required")
        for index, value in enumerate(given):
            if not _is_int64(value):
                detail = "for 'Gt', 'Lt' operators, the value must be an integer"
                yield invalid(f"{path}.values[{index}]", value, detail)
    for index, value in enumerate(given):
        why_not = label_value_faults(value)
        if why_not:
            yield invalid(f"{path}.values[{index}][{key}]", value, "; ".join(why_not))


def _is_int64(text: str) -> bool:
    digits = text[1:] if text[:1] in ("+", "-") else text
    return digits.isascii() and digits.isdigit() and -(1 << 63) <= int(text) < 1 << 63


_CHECKS: Mapping[str, Callable[[Document, str], Iterator[str]]] = {
    "DefaultPreemption": _preemption_problems,
    "InterPodAffinity": _pod_affinity_problems,
    "NodeAffinity": _affinity_problems,
    "NodeResourcesBalancedAllocation": _balanced_problems,
    "PodTopologySpread": _spread_problems,
    "VolumeBinding": _binding_problems,
    "DynamicResources": _resources_problems,
}


def build_problem(plugin: str, args: Any) -> str | None:
    """Why a plugin cannot be built from its arguments, as its factory says it."""
    found = list(fit_problems(args)) if plugin == "NodeResourcesFit" else []
    return f'initializing plugin "{plugin}": {aggregate(found)}' if found else None
