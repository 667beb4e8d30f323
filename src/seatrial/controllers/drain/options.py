"""The annotation that asks for the drain of a node, and the one that says what came of it."""

from typing import Annotated, Literal

import msgspec

from seatrial.model.durations import parse_duration

PREFIX = "simulation.kube-scheduler-simulator.x-k8s.io"
DRAIN = f"{PREFIX}/drain"
"""On a Node: the options of the drain, as a JSON object; `{}` is `kubectl drain NODE --ignore-daemonsets`."""
DRAINED = f"{PREFIX}/drained"
"""On a Node, by the controller: a `DrainRecord`."""
Phase = Literal["Draining", "Drained", "Failed"]


class NodeReplacement(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The node that takes the place of a drained one."""

    name: str
    surge: bool = False
    """Whether it is there before the drain begins; otherwise it comes when the old node is gone."""
    ready_after: str = "0s"
    kubelet_version: str = ""


class DrainOptions(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """kubectl's options, and what a managed pool does besides."""

    force: bool = False
    delete_emptydir_data: bool = False
    grace_period: int = -1
    timeout: str = "0s"
    command: str = ""
    """Nodes of one command are drained one after the other, in the order of their marks; by default each on its own."""
    at_once: Annotated[int, msgspec.Meta(ge=1)] = 1
    """How many nodes of the command are drained at the same time; `kubectl drain` takes one."""
    delete: bool = False
    """Whether a drained node is deleted; the command then ends at the first node that cannot be drained."""
    replacement: NodeReplacement | None = None

    @property
    def cordons_first(self) -> bool:
        """Whether all nodes of the command are cordoned before the first is drained, as `kubectl drain` does."""
        return not self.delete


class DrainHold(msgspec.Struct, rename="camel", omit_defaults=True):
    """A pod whose eviction a budget refused."""

    pod: str
    budget: str
    why: str
    since: str
    until: str = ""
    """When the eviction was granted, or the pod was gone; empty: not in this run."""


class DrainRecord(msgspec.Struct, rename="camel", omit_defaults=True):
    """What came of a drain."""

    phase: Phase
    started: str = ""
    finished: str = ""
    evicted: int = 0
    held: list[DrainHold] = []
    errors: list[str] = []


def read_drain_options(text: str) -> DrainOptions:
    """The options of an annotation; ValueError says what is wrong."""
    try:
        options = msgspec.json.decode(text, type=DrainOptions)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"expected options of a drain as a JSON object: {error}") from error
    spans = [options.timeout, *([options.replacement.ready_after] if options.replacement is not None else [])]
    if any(parse_duration(span) < 0 for span in spans):
        raise ValueError("a duration is negative")
    return options
