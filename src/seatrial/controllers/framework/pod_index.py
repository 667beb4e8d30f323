"""An index of pods for controllers: one small row per pod, and running counts for each owner.

Owners with thousands of pods are synced after every bind; counting their pods each time would make a run quadratic, so
the counts move with each change instead. In a run without owners of pods, budgets or taints nothing reads the index:
the rows are made when the first reader or the first pod with an owner comes.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass, field

from seatrial.controllers.framework.metadata import is_tied
from seatrial.controllers.framework.pod_row import READERS, PodRow, matters, read_pod, same_metadata
from seatrial.model.label_selectors import LabelSelector
from seatrial.store import Change, Store, Stored

Labels = frozenset[tuple[str, str]]


@dataclass(slots=True)
class OwnedPods:
    """The pods of one owner, in order of arrival, with their counts."""

    rows: dict[tuple[str, str], PodRow] = field(default_factory=dict)
    unsettled: dict[tuple[str, str], PodRow] = field(default_factory=dict)
    restarts: int = 0
    """Restarts of the pods that are pending or running."""
    active: int = 0
    ready: int = 0
    terminating: int = 0
    labels: Counter[Labels] = field(default_factory=Counter)
    untested: dict[Labels, None] = field(default_factory=dict)
    misfits: set[Labels] = field(default_factory=set)
    selector: LabelSelector | None = None
    _inactive: dict[tuple[str, str], PodRow] = field(default_factory=dict)
    _arrivals: dict[tuple[str, str], int] = field(default_factory=dict)
    _next_arrival: int = 0

    def inactive(self) -> list[PodRow]:
        """The unsettled pods that are over or being deleted, in order of arrival: what a Job has to count."""
        return [self._inactive[key] for key in sorted(self._inactive, key=self._arrivals.__getitem__)]

    def add(self, row: PodRow) -> None:
        key = row.namespace, row.name
        self.rows[key] = row
        self._arrivals[key] = self._next_arrival
        self._next_arrival += 1
        self._sort(key, row)
        self._count(row, 1)

    def remove(self, row: PodRow) -> None:
        key = row.namespace, row.name
        del self.rows[key], self._arrivals[key]
        self.unsettled.pop(key, None)
        self._inactive.pop(key, None)
        self._count(row, -1)

    def replace(self, old: PodRow, new: PodRow) -> None:
        key = new.namespace, new.name
        self.rows[key] = new
        self._sort(key, new)
        if old.labels is new.labels and old.is_active and new.is_active:
            self.ready += new.is_ready - old.is_ready
            self.restarts += _restarts_of(new) - _restarts_of(old)
        else:
            self._count(old, -1)
            self._count(new, 1)

    def _sort(self, key: tuple[str, str], row: PodRow) -> None:
        if row.is_settled:
            self.unsettled.pop(key, None)
            self._inactive.pop(key, None)
            return
        self.unsettled[key] = row
        if row.is_active:
            self._inactive.pop(key, None)
        else:
            self._inactive[key] = row

    def active_rows(self) -> list[PodRow]:
        return [row for row in self.rows.values() if row.is_active]

    def available(self, now: int, min_ready: int) -> int:
        if min_ready == 0:
            return self.ready
        return sum(row.is_active and row.is_available(now, min_ready) for row in self.rows.values())

    def labelled(self, labels: dict[str, str]) -> int:
        """How many active pods carry all these labels."""
        wanted = frozenset(labels.items())
        return sum(count for found, count in self.labels.items() if wanted <= found)

    def unlike(self, selector: LabelSelector) -> list[PodRow]:
        """Active pods that the selector does not match; each set of labels is tested once."""
        if selector is not self.selector:
            self.selector = selector
            self.misfits.clear()
            self.untested = dict.fromkeys(self.labels)
        if self.untested:
            self.misfits.update(labels for labels in self.untested if not selector.matches(dict(labels)))
            self.untested.clear()
        if not self.misfits:
            return []
        return [row for row in self.active_rows() if not selector.matches(row.labels)]

    def _count(self, row: PodRow, sign: int) -> None:
        self.restarts += sign * _restarts_of(row)
        if row.is_active:
            self.active += sign
            self.ready += sign * row.is_ready
            labels = frozenset(row.labels.items())
            if labels not in self.labels:
                self.untested[labels] = None
            self.labels[labels] += sign
            if not self.labels[labels]:
                del self.labels[labels]
                self.untested.pop(labels, None)
                self.misfits.discard(labels)
        elif row.is_terminating:
            self.terminating += sign


def _restarts_of(row: PodRow) -> int:
    return row.restarts if row.phase in ("Running", "Pending") else 0


NO_PODS = OwnedPods()
PodListener = Callable[[PodRow | None, PodRow | None], None]
ALWAYS = (None,)


class PodIndex:
    """All pods, by key, by owner and by node; listeners receive (old row, new row) after the index is updated."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: dict[tuple[str, str], PodRow] = {}
        self._owned: dict[str, OwnedPods | dict[tuple[str, str], PodRow]] = {}
        """The pods of each owner; their counts are kept from the first time that they are read."""
        self._on_node: dict[str, dict[tuple[str, str], PodRow]] = {}
        self._in_namespace: dict[str, dict[str, PodRow]] = {}
        self._orphans: dict[str, dict[str, PodRow]] = {}
        self._unread: dict[tuple[str, str], Stored] | None = None
        """The pods of which no row was made yet, in the order that their rows will have; None where all have one."""
        self._listeners: list[tuple[PodListener, Sized]] = []
        self._placement_listeners: list[tuple[PodListener, Sized]] = []
        self._needs: list[Sized] = []
        self._unsubscribe: Callable[[], None] | None = None
        self._users = 0

    def start(self) -> None:
        """Read what is there and follow it, from the first user on."""
        self._users += 1
        if self._unsubscribe is not None:
            return
        kind = self._store.kinds.served("v1", "Pod")
        self._unread = {(stored.namespace, stored.name): stored for stored in self._store.list(kind)}
        self._unsubscribe = self._store.subscribe(self._changed, [kind])

    def stop(self) -> None:
        """Stop following when the last user has gone."""
        self._users -= 1
        if self._users or self._unsubscribe is None:
            return
        self._unsubscribe()
        self._unsubscribe = self._unread = None
        self._rows.clear()
        self._owned.clear()
        self._on_node.clear()
        self._in_namespace.clear()
        self._orphans.clear()

    def listen(self, listener: PodListener, *, placement: bool = True, needed: Sized = ALWAYS) -> Callable[[], None]:
        """Call the listener for each change; without `placement` only for changes that matter to owners.

        While `needed` is empty it is not called for pods that have neither owner nor finalizers.
        """
        entry = listener, needed
        lists = [self._listeners, self._placement_listeners] if placement else [self._listeners]
        for listeners in lists:
            listeners.append(entry)
        self._needs = [needed for _, needed in self._listeners]

        def stop() -> None:
            for listeners in lists:
                listeners.remove(entry)
            self._needs = [needed for _, needed in self._listeners]

        return stop

    def get(self, namespace: str, name: str) -> PodRow | None:
        self._read_all()
        return self._rows.get((namespace, name))

    def owned_by(self, uid: str) -> OwnedPods:
        self._read_all()
        found = self._owned.get(uid, NO_PODS)
        if isinstance(found, OwnedPods):
            return found
        counted = self._owned[uid] = OwnedPods()
        for row in found.values():
            counted.add(row)
        return counted

    def on_node(self, node: str) -> list[PodRow]:
        self._read_all()
        return list(self._on_node.get(node, {}).values())

    def orphans(self, namespace: str) -> list[PodRow]:
        """Pods of a namespace that no controller manages."""
        self._read_all()
        return list(self._orphans.get(namespace, {}).values())

    def in_namespace(self, namespace: str) -> list[PodRow]:
        self._read_all()
        return list(self._in_namespace.get(namespace, {}).values())

    def __iter__(self) -> Iterator[PodRow]:
        self._read_all()
        return iter(list(self._rows.values()))

    def _read_all(self) -> None:
        """Make the rows of all pods, from now on with each change."""
        if self._unread is not None:
            unread, self._unread = self._unread, None
            for stored in unread.values():
                self._move(None, read_pod(stored))

    def _changed(self, change: Change) -> None:
        if self._unread is not None:
            if not any(self._needs) and _put_off(change, self._unread):
                return
            self._read_all()
        old = self._rows.get((change.stored.namespace, change.stored.name))
        new: PodRow | None = None
        if change.type != "DELETED":
            read = READERS.get(change.subresource) if old is not None else None
            new = (
                read(old, change.stored)
                if read is not None and old is not None and same_metadata(change)
                else read_pod(change.stored, old)
            )
        if new is not old:
            self._move(old, new)
        is_seen = old is None or new is None or (new is not old and matters(old, new))
        is_tied = _is_tied(old) or _is_tied(new)
        for listener, needed in self._listeners if is_seen else self._placement_listeners:
            if is_tied or needed:
                listener(old, new)

    def _move(self, old: PodRow | None, new: PodRow | None) -> None:
        if old is not None and new is not None and old.owner == new.owner and old.node == new.node:
            self._rows[new.namespace, new.name] = self._in_namespace[new.namespace][new.name] = new
            if new.owner is not None:
                owned = self._owned[new.owner.uid]
                if isinstance(owned, OwnedPods):
                    owned.replace(old, new)
                else:
                    owned[new.namespace, new.name] = new
            else:
                self._orphans[new.namespace][new.name] = new
            if new.node:
                self._on_node[new.node][new.namespace, new.name] = new
            return
        if old is not None:
            self._take_out(old)
        if new is not None:
            self._put_in(new)

    def _put_in(self, row: PodRow) -> None:
        self._rows[row.namespace, row.name] = row
        self._in_namespace.setdefault(row.namespace, {})[row.name] = row
        if row.owner is not None:
            owned = self._owned.setdefault(row.owner.uid, {})
            if isinstance(owned, OwnedPods):
                owned.add(row)
            else:
                owned[row.namespace, row.name] = row
        else:
            self._orphans.setdefault(row.namespace, {})[row.name] = row
        if row.node:
            self._on_node.setdefault(row.node, {})[row.namespace, row.name] = row

    def _take_out(self, row: PodRow) -> None:
        del self._rows[row.namespace, row.name], self._in_namespace[row.namespace][row.name]
        if row.owner is not None:
            owned = self._owned[row.owner.uid]
            if isinstance(owned, OwnedPods):
                owned.remove(row)
                owned = owned.rows
            else:
                del owned[row.namespace, row.name]
            if not owned:
                del self._owned[row.owner.uid]
        else:
            del self._orphans[row.namespace][row.name]
        if row.node:
            del self._on_node[row.node][row.namespace, row.name]


def _is_tied(row: PodRow | None) -> bool:
    return row is not None and (row.owner is not None or bool(row.finalizers))


def _put_off(change: Change, unread: dict[tuple[str, str], Stored]) -> bool:
    """Keep a change for later; False where a listener may be needed for it or the place of the row is not known."""
    stored = change.stored
    if not (change.type == "ADDED" or change.subresource in READERS) or is_tied(stored):
        return False
    key = stored.namespace, stored.name
    if change.subresource == "binding":
        # A row whose node changes becomes the last one.
        unread.pop(key, None)
    unread[key] = stored
    return True
