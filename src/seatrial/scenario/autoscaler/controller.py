"""The cluster-autoscaler of a scenario: acts when the scheduler is at rest, as the real one acts in its scans.

Pods that the scheduler could not place make groups grow; nodes of groups that were not needed for a while are drained
and deleted. The delay until a new node is there always runs out in its step; the time that a node must be unneeded
passes only where the scenario lets time pass (`step-duration`).
"""

from collections.abc import Callable, Iterable

import msgspec

from seatrial.clock import Clock
from seatrial.model.documents import Document
from seatrial.model.errors import StatusError
from seatrial.scenario.autoscaler.cluster_snapshot import WRITER, ClusterSnapshot
from seatrial.scenario.autoscaler.drainability import Drainability, moves
from seatrial.scenario.autoscaler.flags import Flags
from seatrial.scenario.autoscaler.node_group import NodeGroup, install_node_groups
from seatrial.scenario.autoscaler.scale_down import unneeded
from seatrial.scenario.autoscaler.scale_up import Option, best, estimate
from seatrial.scenario.engine.controller_registry import CLUSTER_AUTOSCALER
from seatrial.scenario.spec.kind import API_VERSION
from seatrial.scheduler import Scheduler
from seatrial.store import Change, Store
from seatrial.store.options import DeleteOptions

TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"


class ClusterAutoscaler:
    """Scales the NodeGroups of a store; a participant of a scenario."""

    name = CLUSTER_AUTOSCALER

    def __init__(
        self,
        store: Store,
        clock: Clock,
        scheduler: Scheduler,
        simulate: Callable[[], Scheduler],
        flags: Flags,
        seed: int,
    ) -> None:
        """`simulate` makes a scheduler for simulations, which records nothing."""
        install_node_groups(store)
        self._store, self._clock, self._scheduler, self._simulate = store, clock, scheduler, simulate
        self._flags, self._seed = flags, seed
        self._drainability = Drainability(store, flags, WRITER, self._wake_at)
        self._groups = store.kinds.served(API_VERSION, "NodeGroup")
        self._nodes, self._pods = store.kinds.served("v1", "Node"), store.kinds.served("v1", "Pod")
        self._budgets = store.kinds.served("policy/v1", "PodDisruptionBudget")
        self._is_stale = True
        self._upcoming: dict[str, NodeGroup] = {}
        """Names of the nodes that were asked for and are not there yet."""
        self._made: dict[str, int] = {}
        self._last_scale_up: int | None = None
        self._unneeded_since: dict[str, int] = {}
        self._draining: set[str] = set()
        self._unsubscribe: Callable[[], None] | None = None

    # -- as the engine sees it -----------------------------------------------------------------------------------------

    def start(self) -> None:
        kinds = [self._groups, self._nodes, self._pods, self._budgets]
        self._unsubscribe = self._store.subscribe(self._notice, kinds)

    def stop(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()

    def has_work(self) -> bool:
        return self._is_stale and not self._scheduler.has_work()

    def wait_condition(self) -> bool:
        """Whether nothing is to be done, and no node is upcoming."""
        return not self.has_work() and not self._upcoming

    def work(self) -> bool:
        """One scan; whether anything was done."""
        self._is_stale = False
        groups = [msgspec.convert(stored.document(), NodeGroup) for stored in self._store.list(self._groups)]
        if not groups:
            return False
        drained = [self._drain(name) for name in sorted(self._draining)]
        if any(drained):
            return True
        # Nodes are drained one after the other.
        may_shrink = self._flags.scale_down_enabled and not self._draining
        return self._scale_up(groups) or (may_shrink and self._scale_down(groups))

    def _notice(self, change: Change) -> None:
        is_pending = change.stored.kind == self._pods and not change.stored.node_name
        if change.subresource != "status" or change.stored.kind == self._budgets or is_pending:
            self._is_stale = True

    # -- up ------------------------------------------------------------------------------------------------------------

    def _scale_up(self, groups: list[NodeGroup]) -> bool:
        waiting = [key for stored in self._store.list(self._pods) if (key := _unschedulable(stored.document()))]
        if not waiting:
            return False
        sizes = self._sizes(groups)
        with ClusterSnapshot(self._simulate()) as snapshot:
            for name, group in self._upcoming.items():
                snapshot.add_node(group.node(name))
            left = [key for key in waiting if not snapshot.place(key)]
            options = [
                estimate(snapshot, group, left, group.spec.max_size - sizes[group.name])
                for group in groups
                if left and sizes[group.name] < group.spec.max_size
            ]
        options = [option for option in options if option.nodes]
        if not options:
            return False
        # The pods that this option leaves are looked at in the next scan, before the nodes are there.
        self._is_stale = True
        self._last_scale_up = self._clock.now()
        self._increase(best(options, self._flags.expander, self._seed + sum(self._made.values())))
        return True

    def _increase(self, option: Option) -> None:
        names = [self._new_name(option.group) for _ in range(option.nodes)]
        self._upcoming.update((name, option.group) for name in names)
        if delay := option.group.startup_delay:
            self._clock.after(delay, lambda: self._arrive(names))
        else:
            self._arrive(names)

    def _arrive(self, names: Iterable[str]) -> None:
        for name in names:
            self._store.create(self._nodes, self._upcoming.pop(name).node(name), writer=WRITER)

    def _new_name(self, group: NodeGroup) -> str:
        while True:
            number = self._made[group.name] = self._made.get(group.name, 0) + 1
            if self._store.find(self._nodes, name := f"{group.name}-{number}") is None:
                return name

    def _sizes(self, groups: Iterable[NodeGroup]) -> dict[str, int]:
        """The target size of each group: nodes that are there or upcoming, without those that are being removed."""
        members = self._members(groups)
        upcoming = [group.name for group in self._upcoming.values()]
        return {name: len(set(nodes) - self._draining) + upcoming.count(name) for name, nodes in members.items()}

    def _members(self, groups: Iterable[NodeGroup]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {group.name: [] for group in groups}
        for stored in self._store.list(self._nodes):
            labels = stored.document()["metadata"].get("labels") or {}
            owner = next((group for group in groups if group.has(labels)), None)
            if owner is not None:
                found[owner.name].append(stored.name)
        return found

    # -- down ----------------------------------------------------------------------------------------------------------

    def _scale_down(self, groups: list[NodeGroup]) -> bool:
        now, sizes, members = self._clock.now(), self._sizes(groups), self._members(groups)
        owners = {node: group for group in groups for node in members[group.name] if node not in self._draining}
        candidates = [node for node, group in owners.items() if sizes[group.name] > group.spec.min_size]
        pods_of: dict[str, list[Document]] = {}
        for stored in self._store.list(self._pods):
            pod = stored.document()
            if node := pod["spec"].get("nodeName"):
                pods_of.setdefault(node, []).append(pod)
        with ClusterSnapshot(self._simulate()) as snapshot:
            moving = unneeded(snapshot, candidates, pods_of, self._flags, self._drainability.is_blocked)
        self._unneeded_since = {node: self._unneeded_since.get(node, now) for node in moving}
        due_from = self._unneeded_from()
        for since in self._unneeded_since.values():
            if (due := max(since + self._flags.unneeded_time, due_from)) > now:
                self._wake_at(due)
        ripe = [node for node in moving if max(self._unneeded_since[node] + self._flags.unneeded_time, due_from) <= now]
        return self._remove([node for node in ripe if not moving[node]], ripe, owners, sizes)

    def _unneeded_from(self) -> int:
        return 0 if self._last_scale_up is None else self._last_scale_up + self._flags.delay_after_add

    def _remove(self, empty: list[str], ripe: list[str], owners: dict[str, NodeGroup], sizes: dict[str, int]) -> bool:
        """Remove empty nodes together, or else one that has to be drained."""
        chosen = []
        for node in (empty or ripe[:1])[: self._flags.max_scale_down_parallelism]:
            group = owners[node]
            if sizes[group.name] > group.spec.min_size:
                sizes[group.name] -= 1
                chosen.append(node)
        for node in chosen:
            self._draining.add(node)
            self._unneeded_since.pop(node, None)
            self._taint(node)
            self._drain(node)
        return bool(chosen)

    def _taint(self, node: str) -> None:
        taint = {"key": TO_BE_DELETED, "effect": "NoSchedule", "value": str(self._clock.now() // 1_000_000)}

        def change(document: Document) -> None:
            spec = document.setdefault("spec", {})
            spec["taints"] = [*(spec.get("taints") or ()), taint]

        self._store.modify(self._nodes, node, change, writer=WRITER)

    def _drain(self, node: str) -> bool:
        """Evict what has to move, and delete the node once it is gone; whether anything was done."""
        if self._store.find(self._nodes, node) is None:
            self._draining.discard(node)
            return False
        done, is_empty = False, True
        for stored in self._store.list(self._pods):
            pod = stored.document()
            if pod["spec"].get("nodeName") != node or not moves(pod):
                continue
            is_empty = False
            if "deletionTimestamp" not in pod["metadata"]:
                done |= self._evict(stored.namespace, stored.name)
        if is_empty:
            self._draining.discard(node)
            self._store.delete(self._nodes, node, writer=WRITER)
        return done or is_empty

    def _evict(self, namespace: str, name: str) -> bool:
        try:
            self._store.evict(namespace, name, writer=WRITER, options=DeleteOptions())
        except StatusError:
            # A budget does not let it go now; a change of the budget brings the next scan.
            return False
        return True

    def _wake_at(self, when: int) -> None:
        self._clock.at(when, self._wake, outer=True)

    def _wake(self) -> None:
        self._is_stale = True


def _unschedulable(pod: Document) -> str:
    """The key of a pod that the scheduler could not place; empty for others."""
    meta = pod["metadata"]
    if pod["spec"].get("nodeName") or "deletionTimestamp" in meta:
        return ""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    is_refused = any(
        condition.get("type") == "PodScheduled" and condition.get("reason") == "Unschedulable"
        for condition in conditions
    )
    return f"{meta['namespace']}/{meta['name']}" if is_refused else ""
