"""Scaling behavior of an autoscaler: stabilization windows, rates and fixed limits. Pure but for its memory.

Upstream: pkg/controller/podautoscaler/horizontal.go (v1.36).
"""

import math
from dataclasses import dataclass, field

from seatrial.model.documents import Document
from seatrial.model.times import SECOND

DOWN_WINDOW = 300
UNHURRIED = ("DesiredWithinRange", "the desired count is within the acceptable range")
DEFAULT_UP: Document = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
PLAIN_UP: Document = {"stabilizationWindowSeconds": 0}
LEAST_GROWTH = 4
DEFAULT_DOWN: Document = {
    "stabilizationWindowSeconds": DOWN_WINDOW,
    "selectPolicy": "Max",
    "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
}


@dataclass(slots=True)
class Memory:
    """The recent recommendations and scalings of one autoscaler, each with its time."""

    recommendations: list[tuple[int, int]] = field(default_factory=list)
    scalings: list[tuple[int, int]] = field(default_factory=list)

    def scaled(self, now: int, change: int) -> None:
        self.scalings = [entry for entry in self.scalings if entry[0] > now - 3600 * SECOND]
        self.scalings.append((now, change))

    def changed_since(self, moment: int) -> int:
        return sum(change for when, change in self.scalings if when > moment)


def stabilized(memory: Memory, rules: tuple[Document, Document], current: int, desired: int, now: int) -> int:
    """The recommendation that the windows allow: the lowest recent one upwards, the highest one downwards."""
    up_window, down_window = (rule.get("stabilizationWindowSeconds") or 0 for rule in rules)
    upwards = min([desired, *_recent(memory, now, up_window)])
    downwards = max([desired, *_recent(memory, now, down_window)])
    longest = max(up_window, down_window) * SECOND
    memory.recommendations = [entry for entry in memory.recommendations if entry[0] > now - longest]
    memory.recommendations.append((now, desired))
    return min(max(current, upwards), downwards)


def limited(
    memory: Memory, rules: tuple[Document, Document], bounds: tuple[int, int], current: int, desired: int, now: int
) -> tuple[int, str, str]:
    """The replicas that rates and bounds allow, with the reason."""
    least, most = bounds
    if desired > current:
        fastest = max(_fastest(memory, rules[0], current, now, sign=1), current)
        if most > fastest and desired > fastest:
            return fastest, "ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate"
        if desired > most:
            return most, "TooManyReplicas", "the desired replica count is more than the maximum replica count"
    elif desired < current:
        slowest = min(_fastest(memory, rules[1], current, now, sign=-1), current)
        if least < slowest and desired < slowest:
            why = "the desired replica count is decreasing faster than the maximum scale rate"
            return slowest, "ScaleDownLimit", why
        if desired < least:
            return least, "TooFewReplicas", "the desired replica count is less than the minimum replica count"
    return desired, *UNHURRIED


def rules_of(behaviour: Document | None) -> tuple[Document, Document]:
    """The rules for up and down, with upstream's defaults; where none are given growth doubles, or goes to four."""
    if behaviour is None:
        return PLAIN_UP, DEFAULT_DOWN
    return DEFAULT_UP | (behaviour.get("scaleUp") or {}), DEFAULT_DOWN | (behaviour.get("scaleDown") or {})


def _recent(memory: Memory, now: int, window: int) -> list[int]:
    return [recommended for when, recommended in memory.recommendations if when > now - window * SECOND]


def _fastest(memory: Memory, rule: Document, current: int, now: int, *, sign: int) -> int:
    if rule is PLAIN_UP:
        return max(2 * current, LEAST_GROWTH)
    if rule.get("selectPolicy") == "Disabled":
        return current
    proposals: list[int] = []
    for policy in rule["policies"]:
        start = current - memory.changed_since(now - policy["periodSeconds"] * SECOND)
        if policy["type"] == "Pods":
            proposals.append(start + sign * policy["value"])
        else:
            grown = start * (1 + sign * policy["value"] / 100)
            proposals.append(math.ceil(grown) if sign > 0 else int(grown))
    is_widest = rule.get("selectPolicy") != "Min"
    return max(proposals) if (sign > 0) == is_widest else min(proposals)
