"""The arguments of PodTopologySpread: constraints for pods that have none."""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.label_selectors import label_key_faults
from seatrial.scheduler.config.arguments import Arguments, Gates
from seatrial.scheduler.config.field_errors import duplicate, forbidden, invalid, required, unsupported
from seatrial.scheduler.config.shapes import INT32, STRING, Field, Listing, Mapped, Record, always, pointer
from seatrial.scheduler.config.types import SELECTOR_REQUIREMENTS

_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_LABEL_SELECTOR = Record(
    "v1.LabelSelector",
    {"matchLabels": Field(Mapped(STRING)), "matchExpressions": Field(SELECTOR_REQUIREMENTS)},
)
_SPREAD_CONSTRAINT = Record(
    "v1.TopologySpreadConstraint",
    {
        "maxSkew": always(INT32),
        "topologyKey": always(STRING),
        "whenUnsatisfiable": always(STRING),
        "labelSelector": pointer(_LABEL_SELECTOR),
        "minDomains": pointer(INT32),
        "nodeAffinityPolicy": pointer(STRING),
        "nodeTaintsPolicy": pointer(STRING),
        "matchLabelKeys": Field(Listing(STRING)),
    },
)


def _defaults(args: Document, gates: Gates) -> None:
    args["defaultingType"] = args.get("defaultingType") or "System"


def _problems(args: Document, path: str, gates: Gates) -> Iterator[str]:
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


ARGUMENTS = Arguments(
    "PodTopologySpread",
    {"defaultConstraints": Field(Listing(_SPREAD_CONSTRAINT)), "defaultingType": Field(STRING)},
    defaults=_defaults,
    problems=_problems,
)
