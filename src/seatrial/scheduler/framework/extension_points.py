"""The extension points of the scheduling framework, one Protocol each: a plugin implements those whose methods it has.

`state` is what the plugin's own pre_filter returned (for score and normalize: pre_score, if it has one), or MISSING if
that point is not enabled in the profile; a method may leave the parameter out. None always means success.
Upstream: staging/src/k8s.io/kube-scheduler/framework/interface.go.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import Nodes
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import Poll, PostFiltered, Rejections, Wait
from seatrial.scheduler.framework.status import Status

if TYPE_CHECKING:
    from seatrial.scheduler.framework.runtime import CycleState


class Named(Protocol):
    """Every plugin has a name."""

    @property
    def name(self) -> str: ...


@runtime_checkable
class PreEnqueuePlugin(Named, Protocol):
    """Keeps a pod out of the active queue until the plugin accepts it."""

    def pre_enqueue(self, pod: PodInfo) -> Status | None: ...


@runtime_checkable
class QueueSortPlugin(Named, Protocol):
    """Orders the queue: whether the first pod leaves it before the second."""

    def less(self, first: Any, second: Any) -> bool: ...


@runtime_checkable
class PreFilterPlugin(Named, Protocol):
    """Prepares the filter: SKIP, a rejecting Status, Narrowed, or the state of the cycle."""

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Any: ...


@runtime_checkable
class FilterPlugin(Named, Protocol):
    """Filters all nodes at once: Verdicts, an array of bool, or None if all pass."""

    @property
    def filter(self) -> Any: ...


@runtime_checkable
class FilterOnePlugin(Named, Protocol):
    """Filters one node: True, a Status, or the reason of a rejection as text."""

    @property
    def filter_one(self) -> Any: ...


@runtime_checkable
class PostFilterPlugin(Named, Protocol):
    """Runs if no node is feasible, and may make one feasible."""

    def post_filter(self, pod: PodInfo, rejections: Rejections, cycle: "CycleState") -> PostFiltered: ...


@runtime_checkable
class PreScorePlugin(Named, Protocol):
    """Prepares the score for the feasible nodes: SKIP, a failing Status, or the state."""

    def pre_score(self, pod: PodInfo, nodes: Nodes) -> Any: ...


@runtime_checkable
class ScorePlugin(Named, Protocol):
    """Scores all feasible nodes at once: an array, a failing Status, or None for 0."""

    @property
    def score(self) -> Any: ...


@runtime_checkable
class ScoreOnePlugin(Named, Protocol):
    """Scores one node."""

    @property
    def score_one(self) -> Any: ...


@runtime_checkable
class NormalizePlugin(Named, Protocol):
    """Brings raw scores into the range from 0 to 100."""

    @property
    def normalize(self) -> Any: ...


@runtime_checkable
class ReservePlugin(Named, Protocol):
    """Reserves resources for a pod on the chosen node."""

    def reserve(self, pod: PodInfo, node: NodeInfo, state: Any) -> Status | None: ...


@runtime_checkable
class UnreservePlugin(Named, Protocol):
    """Undoes a reservation; it may be called without one."""

    def unreserve(self, pod: PodInfo, node: NodeInfo, state: Any) -> None: ...


@runtime_checkable
class PermitPlugin(Named, Protocol):
    """Approves, rejects or holds a pod before it is bound."""

    def permit(self, pod: PodInfo, node: NodeInfo, state: Any) -> Status | Wait | None: ...


@runtime_checkable
class PreBindPlugin(Named, Protocol):
    """Prepares the binding, e.g. binds volumes; a Poll holds the pod until a condition holds."""

    def pre_bind(self, pod: PodInfo, node: NodeInfo, state: Any) -> Status | Poll | None: ...


@runtime_checkable
class PreBindPreFlightPlugin(Named, Protocol):
    """Tells without any effect whether pre_bind has something to do: SKIP if not."""

    def pre_bind_pre_flight(self, pod: PodInfo, node: NodeInfo, state: Any) -> Status | None: ...


@runtime_checkable
class SignPlugin(Named, Protocol):
    """Describes all of a pod that the plugin's verdicts and scores depend on: equal pods get equal answers.

    The answer is JSON by key; a Status that is no success means that the pod is like no other.
    """

    def sign(self, pod: PodInfo) -> Mapping[str, Any] | Status: ...


@runtime_checkable
class BindPlugin(Named, Protocol):
    """Binds the pod; SKIP leaves it to the next Bind plugin."""

    def bind(self, pod: PodInfo, node: NodeInfo, state: Any) -> Status | None: ...


@runtime_checkable
class PostBindPlugin(Named, Protocol):
    """Runs after the pod is bound."""

    def post_bind(self, pod: PodInfo, node: NodeInfo, state: Any) -> None: ...
