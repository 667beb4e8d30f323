"""When a Job has failed or succeeded before all its pods are done, and the indexes that say so.

Upstream: validatePodFailurePolicy, validateSuccessPolicy and validateIndexesFormat of
pkg/apis/batch/validation/validation.go.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.integers import int_of
from seatrial.store.field_errors import duplicate, invalid, quoted, required, too_long, too_many
from seatrial.store.validation.formats import not_negative, qualified
from seatrial.store.validation.rules import Row, always, among, at_most, given, items, need, present, rules

_NUMBER = re.compile("[+-]?[0-9]+")


def omitted(path: str, detail: str) -> Cause:
    """A wrong value that is not shown."""
    return Cause(path, f"Invalid value: {detail}", "FieldValueInvalid")


def failure_policy(policy: Document, spec: Document, path: str) -> Iterator[Cause]:
    """Validate podFailurePolicy."""
    pod = (spec.get("template") or {}).get("spec") or {}
    names = {each.get("name") for key in ("containers", "initContainers") for each in pod.get(key) or ()}

    def known(codes: Document, path: str) -> Iterator[Cause]:
        container = codes.get("containerName")
        if container is not None and container not in names:
            why = "must be one of the container or initContainer names in the pod template"
            yield invalid(f"{path}.containerName", container, why)

    def action(rule: Document, path: str) -> Iterator[Cause]:
        if rule.get("action") == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
            yield invalid(f"{path}.action", "FailIndex", "requires the backoffLimitPerIndex to be set")

    codes = rules(_choice("operator", "In", "NotIn"), known, _exit_codes)
    rule = rules(
        _choice("action", "Count", "FailIndex", "FailJob", "Ignore"),
        action,
        present("onExitCodes", codes),
        given("onPodConditions", at_most(20), items(_CONDITION)),
        _one_condition,
    )
    yield from rules(given("rules", at_most(20), items(rule)))(policy, path)


def _choice(field: str, *allowed: str) -> Row:
    return need(field, among(*allowed), text=f"valid values: [{' '.join(map(quoted, allowed))}]")


_CONDITION = rules(always("type", qualified), _choice("status", "False", "True", "Unknown"))


def _one_condition(rule: Document, path: str) -> Iterator[Cause]:
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
    if codes is not None and conditions:
        yield omitted(path, "specifying both OnExitCodes and OnPodConditions is not supported")
    if codes is None and not conditions:
        yield omitted(path, "specifying one of OnExitCodes and OnPodConditions is required")


def _exit_codes(codes: Document, path: str) -> Iterator[Cause]:
    operator, values, path = codes.get("operator", ""), codes.get("values") or [], f"{path}.values"
    if not values:
        yield invalid(path, None, "at least one value is required")
    elif len(values) > 255:
        yield too_many(path, len(values), 255)
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            yield invalid(f"{path}[{index}]", value, "must not be 0 for the In operator")
        if value in values[:index]:
            yield duplicate(f"{path}[{index}]", value)
    if any(first > second for first, second in pairwise(values)):
        yield invalid(path, values, "must be ordered")


def success_policy(policy: Document, completions: int, path: str) -> Iterator[Cause]:
    """Validate successPolicy."""
    listed = policy.get("rules") or ()
    if not listed:
        why = "at least one rules must be specified when the successPolicy is specified"
        yield required(f"{path}.rules", why)
    if len(listed) > 20:
        yield too_many(f"{path}.rules", len(listed), 20)
    for index, rule in enumerate(listed):
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
        if not _NUMBER.fullmatch(part) or abs(int_of(part)) >= 2**63:
            return 0, 0, f"cannot convert string to integer for index: {quoted(part)}"
        if int_of(part) >= completions:
            return 0, 0, f"too large index: {quoted(part)}"
    first, last = int_of(parts[0]), int_of(parts[-1])
    if len(parts) == 2 and first >= last:
        return 0, 0, f"non-increasing order, previous: {first}, current: {last}"
    return first, last, ""
