"""The extension points of the scheduling framework, and how a plugin is written.

A plugin is a class; its extension points are the Protocols of `extension_points` that it implements. A state is what
its pre_filter or pre_score returns; it is frozen, and one that depends on other pods has `with_pod` and `without_pod`.

A plugin whose answer for a node depends on the pod's shape and that node alone declares it (`reads`); its columns are
then kept and only changed rows are asked for again. `depends_on` names what else the columns depend on; `filter_row`
and `score_row` may answer for a single row faster than a column would; `concerns(pod)` may tell cheaply that the filter
does not concern a pod.

Upstream: staging/src/k8s.io/kube-scheduler/framework/interface.go.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.evaluator.shortcuts import Shortcuts, chosen_shortcuts
from seatrial.scheduler.framework.cluster import Client, Nominator, ObjectLister
from seatrial.scheduler.framework.status import SUCCESS, Status
from seatrial.scheduler.versions import DEFAULT, Rules, Version

if TYPE_CHECKING:
    from seatrial.scheduler.config.arguments import Arguments
    from seatrial.scheduler.framework.runtime import Framework

MAX_NODE_SCORE = 100


class Reads(IntEnum):
    """What a plugin's filter and score of one node depend on, besides the pod's shape: how far they can be cached."""

    NODE = 0  # the node alone
    ROW = 1  # the node and the pods on it
    CLUSTER = 2  # anything: never cached


class Action(IntFlag):
    """What happened to an object, as far as plugins care."""

    ADD = 1
    DELETE = 2
    UPDATE_NODE_ALLOCATABLE = 4
    UPDATE_NODE_LABEL = 8
    UPDATE_NODE_TAINT = 16
    UPDATE_NODE_CONDITION = 32
    UPDATE_NODE_ANNOTATION = 64
    UPDATE_NODE_DECLARED_FEATURE = 128
    UPDATE_POD_LABEL = 256
    UPDATE_POD_SCALE_DOWN = 512
    UPDATE_POD_TOLERATION = 1024
    UPDATE_POD_GATES_ELIMINATED = 2048
    UPDATE_POD_GENERATED_CLAIM = 4096
    UPDATE = 8188
    ALL = 8191


Hint = Callable[[Any, PodInfo, Any, Any], bool]


@dataclass(frozen=True, slots=True)
class Requeue:
    """An event after which a pod that the plugin rejected may be schedulable, and the question whether it is.

    `resource` is a kind name: "Pod" (both assigned and unscheduled ones), "Node", "PersistentVolumeClaim", ... The
    hint gets (plugin, pod, old, new): old is None for an add, new for a delete; pods are PodInfos, nodes NodeInfos,
    everything else documents. No hint: always worth a try.
    """

    resource: str
    actions: Action
    hint: Hint | None = None


H = TypeVar("H", bound=Callable[..., bool])


class requeue:
    """Declares queueing hints on the methods that answer them."""

    @staticmethod
    def on(resource: str, actions: Action) -> Callable[[H], H]:
        """The method says whether a pod may be schedulable after such an event."""

        def mark(method: H) -> H:
            events = (*getattr(method, "requeues", ()), Requeue(resource, actions, method))
            method.requeues = events  # type: ignore[attr-defined]
            return method

        return mark


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A PreFilter answer that leaves only some nodes to be searched."""

    nodes: frozenset[str]
    state: Any = None


@dataclass(frozen=True, slots=True)
class Wait:
    """A Permit answer: hold the pod, at most for this number of microseconds."""

    timeout: int


Watched = tuple[str, str, str]
"""An object: kind, namespace and name."""


@dataclass(frozen=True, slots=True)
class Poll:
    """A PreBind answer: hold the pod until a condition holds, as upstream's `wait.PollUntilContextTimeout` does."""

    condition: Callable[[], Status | None]
    """Success, a failure, or None: not yet. It must not change anything."""
    watched: frozenset[Watched]
    """The objects that the condition depends on."""
    interval: int
    """How often the condition is looked at, in microseconds."""
    timeout: int
    """How long the pod waits at most, in microseconds."""
    expired: str
    """The error at the end of that time."""
    changes_at: int | None = None
    """When the answer changes by itself."""
    finished: Callable[[str], None] = lambda failure: None
    """Called at the end of the wait with the text of the failure, or an empty one."""


class Rejections(Protocol):
    """The nodes that did not pass, for PostFilter."""

    def status(self, node: str) -> Status:
        """Why a node was rejected."""
        ...

    def resolvable(self) -> Sequence[str]:
        """Nodes whose rejection preemption may resolve (code Unschedulable), in the order of the snapshot."""
        ...


@dataclass(frozen=True, slots=True)
class PostFiltered:
    """What PostFilter achieved. `nominated_node`: a name nominates, "" clears the nomination, None keeps it."""

    status: Status
    nominated_node: str | None = None
    victims: tuple[PodInfo, ...] = ()
    details: Any = None
    ran: tuple[str, ...] = ()
    """The plugins that were asked."""


class PodsToActivate:
    """Pods that plugins want to be tried again.

    They are brought back where the scheduling cycle of the attempt under way succeeds, or later its binding; an
    attempt that fails brings back none. Upstream: framework.PodsToActivate.
    """

    def __init__(self) -> None:
        self.pods: dict[str, PodInfo] = {}
        """By namespace/name."""

    def add(self, pod: PodInfo) -> None:
        """Ask for another attempt of a pending pod."""
        self.pods[pod.key] = pod

    def take(self) -> list[PodInfo]:
        """The pods asked for so far; they are forgotten."""
        taken, self.pods = list(self.pods.values()), {}
        return taken


class MetricsSink(Protocol):
    """Where plugins count what they do, by the metric's name without its prefix."""

    def inc(self, name: str, *labels: str) -> None: ...
    def observe(self, name: str, value: float, *labels: str) -> None: ...


class NoMetrics:
    """Counts nothing."""

    def inc(self, name: str, *labels: str) -> None:
        """Ignores the count."""

    def observe(self, name: str, value: float, *labels: str) -> None:
        """Ignores the value."""


@dataclass(slots=True)
class Handle:
    """What a plugin is given to work with."""

    cluster: ObjectLister
    nodes: NodeTable
    nominator: Nominator
    client: Client | None = None
    gates: Mapping[str, bool] = field(default_factory=dict)
    now: Callable[[], int] = lambda: 0
    framework: "Framework" = field(default=None, repr=False)  # type: ignore[assignment]
    """The profile the plugin is part of; set when that is complete."""
    shared: dict[str, Any] = field(default_factory=dict)
    """What plugins of all profiles share, by name."""
    version: Version = DEFAULT
    """The version of kube-scheduler whose rules hold."""
    shortcuts: Shortcuts = field(default_factory=chosen_shortcuts)
    pods_to_activate: PodsToActivate = field(default_factory=PodsToActivate)
    metrics: MetricsSink = field(default_factory=NoMetrics)
    watch: Callable[["Plugin"], None] | None = None
    """Wraps the methods of a new plugin, to measure them."""
    report_event: Callable[[PodInfo, str, str, str, str], None] = lambda *_: None
    """Reports an Event about a pod: type, reason, action and note."""


class Plugin:
    """Base of all plugins. A subclass implements the methods of the extension points that it wants.

    The plugin's name is the class name; `self.args` are its pluginConfig, `self.handle` gives access to the cluster.
    Pods are PodInfos, nodes NodeInfos; `nodes` is a sequence of nodes with columns such as `nodes.allocatable("cpu")`.
    Trailing arguments may be left out. None is success wherever a Status may be returned, and everything is read-only.

    pre_enqueue(pod)                     Status: keeps the pod out of the queue until the plugin accepts it
    less(first, second)                  bool: whether the first queued pod is scheduled before the second
    sign(pod)                            what the answers depend on: pods of equal signature fail together; or a Status
    pre_filter(pod, nodes)               the state for filter, SKIP, Narrowed, or a rejecting Status
    filter(pod, nodes, state)            all nodes at once: bool per node, Verdicts, or None where all pass
    filter_one(pod, node, state)         one node: True, the reason of a rejection as text, or a Status
    post_filter(pod, rejections, cycle)  PostFiltered: called if no node is feasible
    pre_score(pod, nodes)                the state for score, SKIP, or a failing Status
    score(pod, nodes, state)             all feasible nodes at once: a number per node, or None for 0
    score_one(pod, node, state)          one node: a number from 0 to 100, unless normalize follows
    normalize(pod, nodes, scores, state) the scores in the range from 0 to 100
    reserve(pod, node, state)            Status: takes resources for the pod on the chosen node
    unreserve(pod, node, state)          gives them back; may be called without reserve
    permit(pod, node, state)             Status, or Wait to hold the pod
    pre_bind_pre_flight(pod, node, state) Status: SKIP if pre_bind has nothing to do
    pre_bind(pod, node, state)           Status: prepares the binding
    bind(pod, node, state)               Status: binds the pod; SKIP leaves it to the next Bind plugin
    post_bind(pod, node, state)          called after the pod is bound

    For speed: `reads` says what filter and score depend on, so that answers are kept; `depends_on()` names what else
    they depend on; `concerns(pod)` tells cheaply that the filter does not concern a pod. `events(gates)` and
    `@requeue.on(...)` say which events bring a rejected pod back.
    """

    reads: ClassVar[Reads] = Reads.CLUSTER
    by_state: ClassVar[bool] = False
    """Whether nothing of the pod but the (hashable) states of PreFilter and PreScore matters, so that pods of different
    shapes may share what was found out for the rows."""
    pre_filters_by_shape: ClassVar[bool] = False
    """Whether PreFilter answers the same for all pods of a shape until an object changes that is no pod."""
    requeues: ClassVar[tuple[Requeue, ...]] = ()
    """Events without a hint, or with one that is a function; hints that are methods are declared by `requeue.on`."""
    arguments: ClassVar["Arguments | None"] = None
    """Types, defaults and validation of the pluginConfig of an in-tree plugin; None: it takes no arguments."""
    prebinds_in_parallel: ClassVar[bool] = False
    """Whether PreBind may run at the same time as that of its neighbours: upstream's AllowParallel."""

    def __init__(self, args: Document | None = None, handle: Handle | None = None) -> None:
        self.args: Document = args or {}
        self.handle: Handle = handle  # type: ignore[assignment]

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def rules(self) -> Rules:
        """What the version of kube-scheduler does otherwise than others."""
        return (DEFAULT if self.handle is None else self.handle.version).rules

    def skips_shape(self, shape: PodShape) -> bool:
        """Whether PreFilter skips all pods of a shape, by their spec alone: it is not asked then."""
        return False

    def depends_on(self) -> Any:
        """What cached columns of this plugin depend on apart from their rows; a change computes them again."""
        return None

    def events(self, gates: Mapping[str, bool]) -> tuple[Requeue, ...]:
        """The events that may make a pod schedulable which this plugin rejected."""
        hinted: list[Requeue] = []
        for kind in reversed(type(self).__mro__):
            for member in vars(kind).values():
                hinted.extend(getattr(member, "requeues", ()) if callable(member) else ())
        return (*self.requeues, *hinted)


def default_requeues() -> tuple[Requeue, ...]:
    """Events registered for a plugin that declares none: anything may help."""
    kinds = (
        "Pod",
        "Node",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "CSINode",
        "CSIDriver",
        "CSIStorageCapacity",
        "StorageClass",
        "ResourceClaim",
        "DeviceClass",
    )
    return tuple(Requeue(kind, Action.ALL) for kind in kinds)


def ok(status: Status | None) -> Status:
    """None means success."""
    return SUCCESS if status is None else status
