"""The pending pods a scheduler is responsible for, which of them it has still to judge, and in which order it will.

A verdict is a binding, or a PodScheduled condition that says False. The expected order is that of kube-scheduler's
PrioritySort: higher priority first, then the order of arrival. It puts verdicts that arrive on several connections at
nearly the same time back into the order in which they were made.
"""

from collections.abc import Callable, Collection, Iterator
from heapq import heappop, heappush
from itertools import count

import msgspec

from seatrial.store import Change, Store, Stored

Key = tuple[str, str]
Rank = tuple[int, int]
ENDED = ("Succeeded", "Failed")


class _Metadata(msgspec.Struct, rename="camel"):
    deletion_timestamp: str | None = None


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str | None = None
    scheduler_name: str = "default-scheduler"
    priority: int = 0
    scheduling_gates: list[msgspec.Raw] = []


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""


class _Status(msgspec.Struct, rename="camel"):
    phase: str = ""
    nominated_node_name: str = ""
    conditions: list[_Condition] = []


class PodView(msgspec.Struct):
    """The fields of a pod that say whether a scheduler has to judge it."""

    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


class PendingPods:
    """The pods that a scheduler has to judge; follows the store until it is closed."""

    def __init__(self, store: Store, scheduler_names: Collection[str], changed: Callable[[], None]) -> None:
        self._store = store
        self._names = frozenset(scheduler_names)
        self._changed = changed
        self._pending: dict[Key, Rank] = {}
        self._untried: dict[Key, None] = {}
        self._ranks: list[tuple[Rank, Key]] = []
        """A heap of the pods without a verdict; those that have got one since are dropped when they come up."""
        self._nominated: dict[Key, tuple[str, int]] = {}
        """Node and priority of the pods that were nominated, the latest last."""
        self._arrivals = count()
        kind = store.kinds.served("v1", "Pod")
        self.kind = kind
        for stored in store.list(kind):
            self._take(stored)
        self.close = store.subscribe(self._notice, [kind])

    @property
    def untried(self) -> Collection[Key]:
        """Pods without a verdict since they became pending, or since the last sweep."""
        return self._untried.keys()

    def __contains__(self, key: Key) -> bool:
        return key in self._pending

    def __iter__(self) -> Iterator[Key]:
        """All pending pods in the expected order."""
        return iter(sorted(self._pending, key=self._pending.__getitem__))

    def __len__(self) -> int:
        return len(self._pending)

    def judged(self, key: Key) -> bool:
        """A verdict was given; whether it was due."""
        return self._untried.pop(key, key) is None

    def reopen(self, key: Key) -> None:
        """A pending pod needs another verdict: room is made for it."""
        if key in self._pending and key not in self._untried:
            self._untried[key] = None
            heappush(self._ranks, (self._pending[key], key))

    def sweep(self) -> None:
        """Every pending pod needs another verdict, but those that were nominated to a node: room is kept for them."""
        self._untried = {key: None for key in self if key not in self._nominated or key in self._untried}
        self._ranks = [(self._pending[key], key) for key in self._untried]

    def rank(self, key: Key) -> Rank | None:
        """The place of a pending pod in the expected order."""
        return self._pending.get(key)

    def first_untried(self) -> Rank | None:
        """The place of the pod whose verdict is expected next."""
        ranks = self._ranks
        while ranks and not (ranks[0][1] in self._untried and self._pending.get(ranks[0][1]) == ranks[0][0]):
            heappop(ranks)
        return ranks[0][0] if ranks else None

    def preemptor_on(self, node: str, priority: int) -> Key | None:
        """The pod that was nominated last to a node and outranks a victim there."""
        found = [key for key, (to, rank) in self._nominated.items() if to == node and rank > priority]
        return found[-1] if found else None

    def _notice(self, change: Change) -> None:
        stored = change.stored
        if change.type == "DELETED":
            self._forget((stored.namespace, stored.name))
        else:
            self._take(stored)
        self._changed()

    def _take(self, stored: Stored) -> None:
        key = stored.namespace, stored.name
        pod = msgspec.json.decode(stored.data, type=PodView)
        self._nominated.pop(key, None)
        if not self._is_ours(pod):
            self._forget(key)
            return
        if pod.status.nominated_node_name:
            self._nominated[key] = pod.status.nominated_node_name, pod.spec.priority
        if key not in self._pending:
            self._pending[key] = -pod.spec.priority, next(self._arrivals)
            self._untried[key] = None
            heappush(self._ranks, (self._pending[key], key))

    def _is_ours(self, pod: PodView) -> bool:
        return (
            not pod.spec.node_name
            and pod.spec.scheduler_name in self._names
            and not pod.spec.scheduling_gates
            and pod.metadata.deletion_timestamp is None
            and pod.status.phase not in ENDED
        )

    def _forget(self, key: Key) -> None:
        self._pending.pop(key, None)
        self._untried.pop(key, None)
        self._nominated.pop(key, None)


def is_unschedulable(stored: Stored) -> bool:
    """Whether the pod says that it could not be scheduled."""
    pod = msgspec.json.decode(stored.data, type=PodView)
    return any(c.type == "PodScheduled" and c.status == "False" for c in pod.status.conditions)


def without_verdict(stored: Stored) -> Stored:
    """The pod as a scheduler sees one that was never tried, so that it reports a verdict in any case."""
    document = stored.document()
    status = document.get("status") or {}
    kept = [c for c in status.get("conditions") or () if c.get("type") != "PodScheduled"]
    document["status"] = {key: value for key, value in status.items() if key != "conditions"}
    if kept:
        document["status"]["conditions"] = kept
    return Stored(stored.kind, stored.namespace, stored.name, stored.revision, msgspec.json.encode(document))
