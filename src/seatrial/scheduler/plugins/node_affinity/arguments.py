"""The arguments of NodeAffinity: node affinity that a profile adds to every pod."""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.label_selectors import label_key_faults, label_value_faults
from seatrial.scheduler.config.arguments import Arguments, Gates
from seatrial.scheduler.config.field_errors import invalid, unsupported
from seatrial.scheduler.config.shapes import INT32, Field, Listing, Record, always, pointer
from seatrial.scheduler.config.types import SELECTOR_REQUIREMENTS

_SELECTOR_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_NODE_SELECTOR_TERM = Record(
    "v1.NodeSelectorTerm",
    {"matchExpressions": Field(SELECTOR_REQUIREMENTS), "matchFields": Field(SELECTOR_REQUIREMENTS)},
)
_NODE_AFFINITY = Record(
    "v1.NodeAffinity",
    {
        "requiredDuringSchedulingIgnoredDuringExecution": pointer(
            Record("v1.NodeSelector", {"nodeSelectorTerms": always(Listing(_NODE_SELECTOR_TERM))}),
        ),
        "preferredDuringSchedulingIgnoredDuringExecution": Field(
            Listing(
                Record(
                    "v1.PreferredSchedulingTerm",
                    {"weight": always(INT32), "preference": always(_NODE_SELECTOR_TERM)},
                )
            )
        ),
    },
)


def _affinity_problems(args: Document, path: str, gates: Gates) -> Iterator[str]:
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


ARGUMENTS = Arguments("NodeAffinity", {"addedAffinity": pointer(_NODE_AFFINITY)}, problems=_affinity_problems)
