"""When a Job has failed or succeeded before all its pods are done, and the indexes that say so.

Upstream: validatePodFailurePolicy, validateSuccessPolicy and validateIndexesFormat of
pkg/apis/batch/validation/validation.go.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, invalid, quoted, required, too_long, too_many, unsupported
from seatrial.store.validation.formats import not_negative, qualified

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_STATUSES = ("False", "True", "Unknown")
_NUMBER = re.compile("[+-]?[0-9]+")


def omitted(path: str, detail: str) -> Cause:
    """A wrong value that is not shown."""
    return Cause(path, f"Invalid value: {detail}", "FieldValueInvalid")


def _valid(values: tuple[str, ...]) -> str:
    return f"valid values: [{' '.join(map(quoted, values))}]"


def failure_policy(policy: Document, spec: Document, path: str) -> Iterator[Cause]:
    """Validate podFailurePolicy."""
    rules = policy.get("rules") or ()
    if len(rules) > 20:
        yield too_many(f"{path}.rules", len(rules), 20)
    pod = (spec.get("template") or {}).get("spec") or {}
    names = {each.get("name") for key in ("containers", "initContainers") for each in pod.get(key) or ()}
    for index, rule in enumerate(rules):
        where, action = f"{path}.rules[{index}]", rule.get("action", "")
        if not action:
            yield required(f"{where}.action", _valid(_ACTIONS))
        elif action not in _ACTIONS:
            yield unsupported(f"{where}.action", action, _ACTIONS)
        elif action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
            yield invalid(f"{where}.action", action, "requires the backoffLimitPerIndex to be set")
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
        if codes is not None:
            yield from _exit_codes(codes, names, f"{where}.onExitCodes")
        if conditions:
            yield from _conditions(conditions, f"{where}.onPodConditions")
        if codes is not None and conditions:
            yield omitted(where, "specifying both OnExitCodes and OnPodConditions is not supported")
        if codes is None and not conditions:
            yield omitted(where, "specifying one of OnExitCodes and OnPodConditions is required")


def _conditions(patterns: list[Document], path: str) -> Iterator[Cause]:
    if len(patterns) > 20:
        yield too_many(path, len(patterns), 20)
    for index, pattern in enumerate(patterns):
        where, status = f"{path}[{index}]", pattern.get("status", "")
        yield from qualified(pattern.get("type", ""), f"{where}.type")
        if not status:
            yield required(f"{where}.status", _valid(_STATUSES))
        elif status not in _STATUSES:
            yield unsupported(f"{where}.status", status, _STATUSES)


def _exit_codes(codes: Document, names: set[str], path: str) -> Iterator[Cause]:
    operator, container, values = codes.get("operator", ""), codes.get("containerName"), codes.get("values") or []
    if not operator:
        yield required(f"{path}.operator", _valid(("In", "NotIn")))
    elif operator not in ("In", "NotIn"):
        yield unsupported(f"{path}.operator", operator, ("In", "NotIn"))
    if container is not None and container not in names:
        why = "must be one of the container or initContainer names in the pod template"
        yield invalid(f"{path}.containerName", container, why)
    if not values:
        yield invalid(f"{path}.values", None, "at least one value is required")
    elif len(values) > 255:
        yield too_many(f"{path}.values", len(values), 255)
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            yield invalid(f"{path}.values[{index}]", value, "must not be 0 for the In operator")
        if value in values[:index]:
            yield duplicate(f"{path}.values[{index}]", value)
    if any(first > second for first, second in pairwise(values)):
        yield invalid(f"{path}.values", values, "must be ordered")


def success_policy(policy: Document, completions: int, path: str) -> Iterator[Cause]:
    """Validate successPolicy."""
    rules = policy.get("rules") or ()
    if not rules:
        why = "at least one rules must be specified when the successPolicy is specified"
        yield required(f"{path}.rules", why)
    if len(rules) > 20:
        yield too_many(f"{path}.rules", len(rules), 20)
    for index, rule in enumerate(rules):
        where = f"{path}.rules[{index}]"
        count, indexes, total = rule.get("succeededCount"), rule.get("succeededIndexes"), 0
        if count is None and indexes is None:
            yield required(where, "at least one of succeededCount or succeededIndexes must be specified")
        if indexes is not None:
            if len(indexes) > 64 * 1024:
                yield too_long(f"{where}.succeededIndexes", 64 * 1024)
            total, fault = count_indexes(indexes, completions)
            if fault:
                yield invalid(f"{where}.succeededIndexes", indexes, f"error parsing succeededIndexes: {fault}")
        if count is not None:
            yield from not_negative(count, f"{where}.succeededCount")
            if count > completions:
                why = f"must be less than or equal to {completions} (the number of specified completions)"
                yield invalid(f"{where}.succeededCount", count, why)
            if indexes is not None and count > total:
                why = f"must be less than or equal to {total} (the number of indexes in the specified "
                yield invalid(f"{where}.succeededCount", count, f"{why}succeededIndexes field)")


def count_indexes(text: str, completions: int) -> tuple[int, str]:
    """The number of indexes in a list of intervals, and its errors."""
    total, last = 0, None
    for part in text.split(",") if text else ():
        first, end, fault = interval(part, completions)
        if fault:
            return 0, fault
        if last is not None and last >= first:
            return 0, f"non-increasing order, previous: {last}, current: {first}"
        total, last = total + end - first + 1, end
    return total, ""


def interval(text: str, completions: int) -> tuple[int, int, str]:
    """The first and last index of an interval, and what is wrong with it."""
    parts = text.split("-")
    if len(parts) > 2:
        why = f"the fragment {quoted(text)} violates the requirement that an index interval can have at most two parts "
        return 0, 0, f"{why}separated by '-'"
    for part in parts:
        if not _NUMBER.fullmatch(part):
            return 0, 0, f"cannot convert string to integer for index: {quoted(part)}"
        if int(part) >= completions:
            return 0, 0, f"too large index: {quoted(part)}"
    first, last = int(parts[0]), int(parts[-1])
    if len(parts) == 2 and first >= last:
        return 0, 0, f"non-increasing order, previous: {first}, current: {last}"
    return first, last, ""
