"""How a plugin's Filter and Score are called, whatever form they have: all nodes at once or one by one.

Upstream: pkg/scheduler/framework/runtime/framework.go.
"""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

import numpy as np

from seatrial.scheduler.cache.node_table import Mask, Nodes
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.extension_points import (
    FilterOnePlugin,
    FilterPlugin,
    NormalizePlugin,
    PreScorePlugin,
    ScoreOnePlugin,
    ScorePlugin,
)
from seatrial.scheduler.framework.interface import MAX_NODE_SCORE, Plugin, Reads
from seatrial.scheduler.framework.row_rules import Normalizes
from seatrial.scheduler.framework.status import SUCCESS, Status, Verdicts, unschedulable
from seatrial.scheduler.plugins.registry import is_in_tree


class FilterCall:
    """How one plugin's Filter is called: all nodes at once, or one by one."""

    def __init__(self, plugin: Plugin) -> None:
        self.plugin = plugin
        self.name = plugin.name
        self.reads = plugin.reads
        self.one_by_one = not isinstance(plugin, FilterPlugin)
        if isinstance(plugin, FilterPlugin):
            self._call = _adapted(plugin.filter)
        elif isinstance(plugin, FilterOnePlugin):
            self._call = _adapted(plugin.filter_one)
        self.is_cached = self.reads != Reads.CLUSTER and not self.one_by_one
        self.is_in_tree = is_in_tree(type(plugin))
        self.concerns: Callable[[PodInfo], bool] | None = getattr(plugin, "concerns", None)
        """A plugin may tell cheaply that its filter does not concern a pod."""

    def __call__(self, pod: PodInfo, nodes: Nodes, state: Any, asked: Mask | None = None) -> Verdicts | None:
        """The verdicts; None where every node passes. Plugins that go one by one see only the nodes `asked` for."""
        if self.one_by_one:
            return Verdicts.of(
                self._status(self._call(pod, nodes[place], state))
                if nodes.is_there(place) and (asked is None or asked[place])
                else SUCCESS
                for place in range(len(nodes))
            )
        answer = self._call(pod, nodes, state)
        if answer is None or isinstance(answer, Verdicts):
            return answer
        return Verdicts.reject(~np.asarray(answer, np.bool_), self._reason)

    def _status(self, answer: Any) -> Status:
        if answer is None or answer is True:
            return SUCCESS
        if isinstance(answer, Status):
            return answer
        return unschedulable(answer if isinstance(answer, str) else self._reason)

    @property
    def _reason(self) -> str:
        return getattr(self.plugin, "reason", f"node(s) didn't pass {self.name}")

    def signed(self, status: Status) -> Status:
        """The plugin's answer as the framework reports it."""
        if status.is_rejected:
            return status.by(self.name)
        return Status(status.code, (f'running "{self.name}" filter plugin: {status.message}',), self.name)


class ScoreCall:
    """How one plugin's Score is called."""

    def __init__(self, plugin: Plugin, weight: int) -> None:
        self.plugin = plugin
        self.name = plugin.name
        self.weight = weight
        self.reads = plugin.reads
        self.one_by_one = not isinstance(plugin, ScorePlugin)
        if isinstance(plugin, ScorePlugin):
            self._call = _adapted(plugin.score)
        elif isinstance(plugin, ScoreOnePlugin):
            self._call = _adapted(plugin.score_one)
        self.normalize: Callable[..., Any] | None = None
        if isinstance(plugin, NormalizePlugin):
            self.normalize = _adapted(plugin.normalize, 4)
        self.is_cached = self.reads != Reads.CLUSTER and not self.one_by_one
        self.is_in_tree = is_in_tree(type(plugin))
        self.is_bounded = self.is_in_tree and self.normalize is not None
        """Whether its scores are known to be in the range from 0 to 100."""
        self.scores_nothing: Callable[[PodInfo], bool] | None = None
        if self.is_in_tree:
            self.scores_nothing = getattr(plugin, "scores_nothing", None)
        self.has_pre_score = isinstance(plugin, PreScorePlugin)
        is_reversed = self.is_in_tree and getattr(plugin, "normalizes", None) == Normalizes.REVERSE_SHARE
        self.flat_score = MAX_NODE_SCORE if is_reversed else 0
        """What every node gets if the raw score of all is 0; known of in-tree plugins."""

    def __call__(self, pod: PodInfo, nodes: Nodes, state: Any) -> Any:
        """Raw scores parallel to the nodes, None where all are 0, or the Status of a failure."""
        if self.one_by_one:
            scores = [
                self._call(pod, nodes[place], state) if nodes.is_there(place) else 0 for place in range(len(nodes))
            ]
            failed = next((score for score in scores if isinstance(score, Status)), None)
            return failed if failed is not None else np.asarray(scores, np.int64)
        answer = self._call(pod, nodes, state)
        return answer if answer is None or isinstance(answer, Status) else np.asarray(answer, np.int64)


def _adapted(method: Callable[..., Any], arguments: int = 3) -> Callable[..., Any]:
    """The method, also where it does not care for the state and leaves that parameter out."""
    parameters = signature(method).parameters.values()
    if any(p.kind is Parameter.VAR_POSITIONAL for p in parameters):
        return method
    taken = sum(p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD) for p in parameters)
    return method if taken >= arguments else lambda *given: method(*given[:taken])
