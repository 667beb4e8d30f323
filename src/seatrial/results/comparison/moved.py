"""Groups the pods that went elsewhere by workload and by the kind of reason, as a person would list them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from seatrial.results.comparison.comparison import Comparison, Difference

_NUMBER = re.compile(r"-?\d+")
_COUNTER = re.compile(r"(?<=[-.])[0-9a-z]*\d[0-9a-z]*$")
LEAST_SUFFIX = 6
"""A common suffix of node names that is shorter is left where it is."""


@dataclass(frozen=True, slots=True)
class MovedGroup:
    """Pods of one workload that went elsewhere for one kind of reason."""

    workload: str
    differences: tuple[Difference, ...]

    @property
    def example(self) -> Difference:
        return self.differences[0]


def moved_groups(comparison: Comparison) -> list[MovedGroup]:
    """The groups, the largest first; equally large ones by the first of their pods."""
    owners = {f"{pod.namespace}/{pod.name}": pod.owner for pod in comparison.runs[0].pods}
    found: dict[tuple[str, str], list[Difference]] = {}
    for each in comparison.differences:
        workload = owners.get(each.pod) or _COUNTER.sub("*", each.pod)
        found.setdefault((workload, _kind(each)), []).append(each)
    groups = [MovedGroup(workload, tuple(pods)) for (workload, _), pods in found.items()]
    return sorted(groups, key=lambda group: -len(group.differences))


def _kind(difference: Difference) -> str:
    """The reason without what differs from pod to pod: the names of nodes, and numbers."""
    text = difference.reason
    for node in sorted(filter(None, difference.nodes), key=len, reverse=True):
        text = text.replace(node, "")
    pending = "".join("+" if node else "-" for node in difference.nodes)
    return f"{pending} {_NUMBER.sub('', text)}"


def common_suffix(names: Sequence[str]) -> str:
    """What all names end with from a dot on (`.eu-west-1.compute.internal`); empty where that saves little."""
    if len(set(names)) < 2:
        return ""
    shared = names[0]
    for name in names:
        while not name.endswith(shared):
            shared = shared[1:]
    suffix = shared[shared.find(".") :] if "." in shared else ""
    return suffix if len(suffix) >= LEAST_SUFFIX and all(name != suffix for name in names) else ""
