"""One profile at work: its plugins by extension point, and how each point is run.

Every `run_*` here is upstream's rule for one extension point: which plugins run, when the loop stops, and how
answers become one status. Filters and scores of many nodes are in `filtering` and `scoring`.

Upstream: pkg/scheduler/framework/runtime/framework.go.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast

from msgspec import Struct

from seatrial.model.errors import ConfigError
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import Nodes
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.config import Profile
from seatrial.scheduler.framework.cluster import ObjectLister
from seatrial.scheduler.framework.extension_points import (
    BindPlugin,
    PermitPlugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreBindPreFlightPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ReservePlugin,
    UnreservePlugin,
)
from seatrial.scheduler.framework.interface import Handle, Narrowed, Plugin, PostFiltered, Rejections, Wait
from seatrial.scheduler.framework.plugin_calls import FilterCall, ScoreCall
from seatrial.scheduler.framework.plugin_errors import guard
from seatrial.scheduler.framework.pre_bind import PreBindCall, PreBindRun
from seatrial.scheduler.framework.read_only import ReadOnlyHandle
from seatrial.scheduler.framework.signing import Signing
from seatrial.scheduler.framework.status import (
    MISSING,
    SKIP,
    SUCCESS,
    Code,
    Status,
    error,
    unresolvable,
    unschedulable,
)
from seatrial.scheduler.plugins.registry import Registry, is_in_tree

NOTHING: Mapping[str, Any] = MappingProxyType({})


class CycleState(Struct, frozen=True, eq=False):
    """What PreFilter left behind: one state per plugin, and the plugins whose Filter is skipped."""

    states: Mapping[str, Any] = NOTHING
    skipped: frozenset[str] = frozenset()

    @property
    def depends_on_pods(self) -> bool:
        """Whether pods elsewhere may change a state."""
        return any(hasattr(state, "with_pod") for state in self.states.values())

    def of(self, plugin: str) -> Any:
        return self.states.get(plugin, MISSING)

    def with_pod(self, pod: PodInfo, node: NodeInfo) -> "CycleState":
        """The state as it would be with one more pod on a node; the same object where nothing changes."""
        return self._changed(lambda state: state.with_pod(pod, node))

    def without_pod(self, pod: PodInfo, node: NodeInfo) -> "CycleState":
        """The state as it would be without a pod of a node; the same object where nothing changes."""
        return self._changed(lambda state: state.without_pod(pod, node))

    def _changed(self, change: Callable[[Any], Any]) -> "CycleState":
        changed = {
            name: new
            for name, state in self.states.items()
            if hasattr(state, "with_pod") and (new := change(state)) is not state
        }
        return CycleState({**self.states, **changed}, self.skipped) if changed else self


class PreFiltered(Struct, frozen=True, eq=False):
    """The outcome of PreFilter. `nodes` None: all nodes are searched."""

    cycle: CycleState
    status: Status = SUCCESS
    nodes: frozenset[str] | None = None
    narrowed_by: tuple[str, ...] = ()
    node_sets: Mapping[str, tuple[str, ...]] = NOTHING
    ran: tuple[str, ...] = ()


class Framework:
    """A profile with its plugins made and in order."""

    def __init__(
        self,
        name: str,
        points: Mapping[str, Sequence[Plugin]],
        weights: Mapping[str, int],
        percentage: int | None = None,
    ) -> None:
        self.name = name
        self.cluster: ObjectLister | None = None
        """What its plugins read, if they were built together and are not measured."""
        self.points = points
        self.weights = weights
        self.percentage = percentage
        self._take_cycle_plugins()
        self._take_binding_plugins()
        self.signing = Signing(points)

    def _take_cycle_plugins(self) -> None:
        """The plugins of the queue and of the scheduling cycle up to Reserve."""
        self.filters = [FilterCall(plugin) for plugin in self._at("filter")]
        self.scorers = [ScoreCall(plugin, self.weights.get(plugin.name, 1)) for plugin in self._at("score")]
        self.is_in_tree = all(c.is_in_tree for c in self.filters) and all(c.is_in_tree for c in self.scorers)
        """Whether no user's plugin filters or scores."""
        self._filters_run: dict[frozenset[str], tuple[str, ...]] = {}
        self.uncached_filters = [(index, call) for index, call in enumerate(self.filters) if not call.is_cached]
        self.pre_filters = [(p.name, p.pre_filter) for p in self._at("preFilter") if isinstance(p, PreFilterPlugin)]
        self.pre_filter_names = tuple(name for name, _ in self.pre_filters)
        self._skip_shapes: list[tuple[str, Callable[[PodShape], bool]]] = [
            (p.name, p.skips_shape) for p in self._at("preFilter") if is_in_tree(type(p))
        ]
        self.pre_scorers = [(p.name, p.pre_score) for p in self._at("preScore") if isinstance(p, PreScorePlugin)]
        self.pre_score_names = tuple(name for name, _ in self.pre_scorers)
        self.pre_enqueuers = [
            (p.name, p.pre_enqueue) for p in self._at("preEnqueue") if isinstance(p, PreEnqueuePlugin)
        ]
        self._post_filters = [p for p in self._at("postFilter") if isinstance(p, PostFilterPlugin)]

    def _take_binding_plugins(self) -> None:
        """The plugins from Reserve to PostBind."""
        self._reservers = [p for p in self._at("reserve") if isinstance(p, ReservePlugin)]
        self._unreservers = [p for p in reversed(self._at("reserve")) if isinstance(p, UnreservePlugin)]
        self._permitters = [p for p in self._at("permit") if isinstance(p, PermitPlugin)]
        pre_binders = [p for p in self._at("preBind") if isinstance(p, PreBindPlugin)]
        self._pre_binders = [PreBindCall(p.name, p.pre_bind, p.prebinds_in_parallel) for p in pre_binders]
        self._pre_flights = [
            (p.name, p.pre_bind_pre_flight if isinstance(p, PreBindPreFlightPlugin) else _always_prepares)
            for p in pre_binders
        ]
        self._binders = [p for p in self._at("bind") if isinstance(p, BindPlugin)]
        self._post_binders = [p for p in self._at("postBind") if isinstance(p, PostBindPlugin)]
        reserved = tuple([(p.name, "success") for p in self._reservers])
        self.idle_points: dict[str, tuple[tuple[str, str], ...]] = {
            point: answers for point, answers in (("reserve", reserved), ("preBind", ())) if self.points.get(point)
        }
        """What the record says of Reserve and PreBind for a pod that their plugins have nothing to do for."""
        self.preparing = frozenset(p.name for point in ("reserve", "preBind") for p in self._at(point))
        """Plugins that may have something to do between the choice of a node and the binding."""

    @classmethod
    def build(cls, profile: Profile, registry: Registry, handle: Handle) -> "Framework":
        """Makes the plugins of a profile; each gets its arguments and a handle that knows the profile."""
        own = replace(handle)
        made: dict[str, Plugin] = {}
        points: dict[str, list[Plugin]] = {}
        for point, refs in profile.plugins.items():
            for ref in refs:
                if ref.name not in made:
                    kind = registry.get(ref.name)
                    if kind is None:
                        continue
                    made[ref.name] = _made(kind, profile.args.get(ref.name), own, registry)
                points.setdefault(point, []).append(made[ref.name])
        weights = {ref.name: ref.weight for ref in profile.plugins.get("score", ())}
        framework = cls(profile.name, points, weights, profile.percentage_of_nodes_to_score)
        if handle.watch is not None:
            framework._skip_shapes.clear()  # every call is measured
        else:
            framework.cluster = handle.cluster
        own.framework = framework
        return framework

    def plugin(self, name: str) -> Plugin | None:
        """A plugin of the profile by name."""
        for plugins in self.points.values():
            for plugin in plugins:
                if plugin.name == name:
                    return plugin
        return None

    def _at(self, point: str) -> Sequence[Plugin]:
        return self.points.get(point, ())

    def has(self, point: str) -> bool:
        return bool(self.points.get(point))

    def filters_run(self, skipped: frozenset[str]) -> tuple[str, ...]:
        """The filters that run where some plugins are skipped, in order."""
        found = self._filters_run.get(skipped)
        if found is None:
            found = tuple([call.name for call in self.filters if call.name not in skipped])
            self._filters_run[skipped] = found
        return found

    def run_pre_enqueue(self, pod: PodInfo) -> Status:
        """The answer of the first plugin that gates the pod, or success."""
        for name, pre_enqueue in self.pre_enqueuers:
            status = pre_enqueue(pod)
            if status is not None and not status.is_success:
                return status.by(name)
        return SUCCESS

    def run_pre_filter(self, pod: PodInfo, nodes: Nodes) -> PreFiltered:
        """Asks PreFilter plugins; an unresolvable rejection ends it, after a resolvable one the rest is asked still."""
        states: dict[str, Any] = {}
        asked, idle = self.pre_filters_for(pod)
        skipped: list[str] = list(idle)
        sets: dict[str, frozenset[str]] = {}
        rejected = SUCCESS
        for name, pre_filter in asked:
            answer = pre_filter(pod, nodes)
            if answer is SKIP:
                skipped.append(name)
                continue
            if answer is None:
                states[name] = None
                continue
            if isinstance(answer, Status):
                if answer.code == Code.SKIP:
                    skipped.append(name)
                    continue
                if answer.code == Code.UNSCHEDULABLE:
                    rejected = answer.by(name)
                    continue
                if not answer.is_success:
                    if answer.code != Code.UNRESOLVABLE:
                        answer = error(f'running PreFilter plugin "{name}": {answer.message}')
                    states[name] = None  # it was asked: PostFilter plugins tell that from not having come so far
                    ran = self._ran_until(name)
                    cycle = CycleState(states, frozenset(skipped).intersection(ran))
                    return PreFiltered(cycle, answer.by(name), ran=ran)
                answer = None
            if isinstance(answer, Narrowed):
                sets[name] = answer.nodes
                answer = answer.state
            states[name] = answer
            if sets and not frozenset.intersection(*sets.values()):
                status, ran = unresolvable(_unsatisfied(sorted(sets))), self._ran_until(name)
                cycle = CycleState(states, frozenset(skipped).intersection(ran))
                return PreFiltered(cycle, status, frozenset(), tuple(sorted(sets)), ran=ran)
        cycle = CycleState(states, frozenset(skipped))
        if not sets:
            return PreFiltered(cycle, rejected, ran=self.pre_filter_names)
        left = frozenset.intersection(*sets.values())
        listed = {name: tuple(sorted(names)) for name, names in sets.items()}
        return PreFiltered(cycle, rejected, left, tuple(sorted(sets)), listed, self.pre_filter_names)

    def pre_filters_for(self, pod: PodInfo) -> tuple[Sequence[tuple[str, Callable[..., Any]]], Sequence[str]]:
        """The PreFilter plugins to ask for a pod, and those that skip every pod of its shape."""
        notes = pod.shape.shared.notes
        known = notes.get(self)
        if known is None:
            idle = [name for name, skips in self._skip_shapes if skips(pod.shape)]
            known = notes[self] = [one for one in self.pre_filters if one[0] not in idle], idle
        return cast("tuple[Sequence[tuple[str, Callable[..., Any]]], Sequence[str]]", known)

    def _ran_until(self, name: str) -> tuple[str, ...]:
        return self.pre_filter_names[: self.pre_filter_names.index(name) + 1]

    def run_post_filter(self, pod: PodInfo, rejections: Rejections, cycle: CycleState) -> PostFiltered:
        """Asks PostFilter plugins until one makes the pod schedulable or rules that out."""
        kept: PostFiltered | None = None
        reasons: list[str] = []
        ran: list[str] = []
        for plugin in self._post_filters:
            result = plugin.post_filter(pod, rejections, cycle)
            ran.append(plugin.name)
            status = result.status
            if status.is_success:
                return replace(result, ran=tuple(ran))
            if status.code == Code.UNRESOLVABLE or not status.is_rejected:
                return replace(result, status=status.by(plugin.name), ran=tuple(ran))
            if result.nominated_node is not None:
                kept = result
            reasons.extend(status.reasons)
        status = unschedulable(*reasons).by(ran[0] if ran else "")
        return replace(kept or PostFiltered(status), status=status, ran=tuple(ran))

    def run_reserve(self, pod: PodInfo, node: NodeInfo, cycle: CycleState) -> tuple[Status, list[tuple[str, str]]]:
        """Reserves with every plugin until one fails. The caller unreserves."""
        results: list[tuple[str, str]] = []
        for plugin in self._reservers:
            status = plugin.reserve(pod, node, cycle.of(plugin.name)) or SUCCESS
            results.append((plugin.name, status.message or "success"))
            if status.is_rejected:
                return status.by(plugin.name), results
            if not status.is_success:
                return error(f'running Reserve plugin "{plugin.name}": {status.message}'), results
        return SUCCESS, results

    def run_unreserve(self, pod: PodInfo, node: NodeInfo, cycle: CycleState) -> None:
        """Undoes reservations, last plugin first."""
        for plugin in self._unreservers:
            plugin.unreserve(pod, node, cycle.of(plugin.name))

    def run_permit(
        self, pod: PodInfo, node: NodeInfo, cycle: CycleState
    ) -> tuple[Status, dict[str, int], list[tuple[str, str]]]:
        """Asks Permit plugins: the status (WAIT if one holds the pod), the timeouts by plugin, and all answers."""
        results: list[tuple[str, str]] = []
        waits: dict[str, int] = {}
        for plugin in self._permitters:
            answer = plugin.permit(pod, node, cycle.of(plugin.name))
            if isinstance(answer, Wait):
                waits[plugin.name] = answer.timeout
                results.append((plugin.name, "wait"))
                continue
            status: Status = answer or SUCCESS
            results.append((plugin.name, status.message or "success"))
            if status.is_rejected:
                return status.by(plugin.name), {}, results
            if not status.is_success:
                return error(f'running Permit plugin "{plugin.name}": {status.message}'), {}, results
        if not waits:
            return SUCCESS, {}, results
        text = f'one or more plugins asked to wait and no plugin rejected pod "{pod.name}"'
        return Status(Code.WAIT, (text,)), waits, results

    def run_pre_bind_pre_flight(self, pod: PodInfo, node: NodeInfo, cycle: CycleState) -> tuple[Status, frozenset[str]]:
        """SKIP where no PreBind plugin has anything to do; and the plugins that have not."""
        outcome, skipped = Status(Code.SKIP), []
        for name, pre_flight in self._pre_flights:
            status = pre_flight(pod, node, cycle.of(name)) or SUCCESS
            if status.code == Code.SKIP:
                skipped.append(name)
                continue
            if not status.is_success:
                return error(f'running PreBindPreFlight "{name}": {status.message}'), frozenset()
            outcome = SUCCESS
        return outcome, frozenset(skipped)

    def pre_bind(self, pod: PodInfo, node: NodeInfo, cycle: CycleState, skipped: frozenset[str]) -> PreBindRun:
        """The PreBind plugins that have something to do, to be run."""
        return PreBindRun((call for call in self._pre_binders if call.plugin not in skipped), pod, node, cycle.of)

    def run_bind(self, pod: PodInfo, node: NodeInfo, cycle: CycleState) -> tuple[Status, list[tuple[str, str]]]:
        """Asks Bind plugins until one does not skip."""
        for plugin in self._binders:
            status = plugin.bind(pod, node, cycle.of(plugin.name))
            if status is None:
                return SUCCESS, [(plugin.name, "success")]
            if status.code == Code.SKIP:
                continue
            results = [(plugin.name, status.message or "success")]
            if status.is_success:
                return SUCCESS, results
            if status.is_rejected:
                return status.by(plugin.name), results
            return error(f'running Bind plugin "{plugin.name}": {status.message}'), results
        return Status(Code.SKIP), []

    def run_post_bind(self, pod: PodInfo, node: NodeInfo, cycle: CycleState) -> None:
        for plugin in self._post_binders:
            plugin.post_bind(pod, node, cycle.of(plugin.name))


def _always_prepares(pod: PodInfo, node: NodeInfo, state: Any) -> Status | None:
    """The pre-flight answer for a PreBind plugin that has none of its own."""
    return None


def _made(kind: type[Plugin], args: Any, handle: Handle, registry: Registry) -> Plugin:
    """A plugin with its arguments; a user's is guarded."""
    plugin = _guarded(kind, args, handle) if registry.is_own(kind.__name__) else kind(args, handle)
    if handle.watch is not None:
        handle.watch(plugin)
    return plugin


def _guarded(kind: type[Plugin], args: Any, handle: Handle) -> Plugin:
    try:
        plugin = kind(args, cast(Handle, ReadOnlyHandle(handle)))
    except (Exception, SystemExit) as failure:
        raise ConfigError("plugins", kind.__name__, f"{type(failure).__name__}: {failure}") from failure
    guard(plugin)
    return plugin


def _unsatisfied(plugins: Sequence[str]) -> str:
    if len(plugins) == 1:
        return f"node(s) didn't satisfy plugin {plugins[0]}"
    return f"node(s) didn't satisfy plugin(s) [{' '.join(plugins)}] simultaneously"
