"""A user's controller in ten lines.

```python
from seatrial.scenario.engine.user_controllers import UserController

class NodeSet(UserController):
    name = "nodeset"
    watches = ("example.com/v1/NodeSet",)

    def reconcile(self, cluster, object):
        for number in range(object["spec"]["replicas"]):
            cluster.create_once({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{number}"}})
```
A controller refers to the objects of the cluster alone (KEP-140): it is called when one of its kinds changes, and may
request another call later in virtual time (`cluster.again_after`).
"""

import re
from collections.abc import Callable
from typing import Any, ClassVar

from seatrial.clock import Clock, Timer
from seatrial.model.builtin import builtin_kinds
from seatrial.model.documents import Document
from seatrial.model.durations import parse_duration
from seatrial.model.errors import AlreadyExists, ConfigError, NotFound, SeatrialError
from seatrial.model.kinds import Kind, Kinds
from seatrial.scheduler import ANNOTATOR
from seatrial.store import Change, Store
from seatrial.store.options import Patch

WATCHED = re.compile(r"(?:(?P<group>[^/]+)/)?v[0-9][0-9a-z]*/[A-Z][A-Za-z0-9]*")
Key = tuple[str, str, str]
"""apiVersion/Kind, namespace, name."""


class Cluster:
    """The cluster as a user's controller sees it; kinds are named `apiVersion/Kind`, e.g. `v1/Node`."""

    def __init__(self, store: Store, clock: Clock, writer: str) -> None:
        self._store, self._clock, self._writer = store, clock, writer
        self._key: Key | None = None
        self._timers: dict[Key, Timer] = {}
        self._enqueue: Callable[[Key], None] = lambda key: None

    def now(self) -> int:
        """Virtual time in microseconds since 1970."""
        return self._clock.now()

    def list(self, kind: str, namespace: str = "") -> list[Document]:
        return [stored.document() for stored in self._store.list(self._kind(kind), namespace)]

    def find(self, kind: str, name: str, namespace: str = "default") -> Document | None:
        found = self._kind(kind)
        stored = self._store.find(found, name, namespace if found.namespaced else "")
        return stored.document() if stored is not None else None

    def create(self, document: Document) -> Document:
        kind = self._kind(f"{document['apiVersion']}/{document['kind']}")
        namespace = (document["metadata"].get("namespace") or "default") if kind.namespaced else ""
        return self._store.create(kind, document, writer=self._writer, namespace=namespace).document()

    def create_once(self, document: Document) -> bool:
        """Create an object unless it is there; whether it was created."""
        try:
            self.create(document)
        except AlreadyExists:
            return False
        return True

    def patch(self, kind: str, name: str, patch: Document, namespace: str = "default", subresource: str = "") -> None:
        """Apply a merge patch."""
        found = self._kind(kind)
        where = namespace if found.namespaced else ""
        self._store.patch(
            found, name, Patch("merge", patch), writer=self._writer, namespace=where, subresource=subresource
        )

    def delete(self, kind: str, name: str, namespace: str = "default") -> bool:
        """Delete an object; whether it was there."""
        found = self._kind(kind)
        try:
            self._store.delete(found, name, writer=self._writer, namespace=namespace if found.namespaced else "")
        except NotFound:
            return False
        return True

    def again_after(self, delay: str) -> None:
        """Reconcile the current object again after a delay like `30s` of virtual time."""
        key = self._key
        if key is not None and key not in self._timers:
            self._timers[key] = self._clock.after(parse_duration(delay), lambda: self._due(key))

    @property
    def waits(self) -> bool:
        """Whether a requested reconciliation is still to come."""
        return bool(self._timers)

    def _due(self, key: Key) -> None:
        del self._timers[key]
        self._enqueue(key)

    def _kind(self, name: str) -> Kind:
        api_version, _, kind = name.rpartition("/")
        found = self._store.kinds.named(api_version, kind)
        if found is None:
            raise NotFound(f'no matches for kind "{kind}" in version "{api_version}"')
        return found


class UserController:
    """The base class of a user's controller: a name, the kinds it watches, and `reconcile`."""

    name: ClassVar[str] = ""
    watches: ClassVar[tuple[str, ...]] = ()
    uses_real_time: ClassVar[bool] = False

    def reconcile(self, cluster: Cluster, object: Document) -> None:
        """Reconcile the cluster with `object`; called after each change of it."""
        raise NotImplementedError

    def removed(self, cluster: Cluster, object: Document) -> None:
        """An object that was watched is gone."""

    def wait_condition(self, cluster: Cluster) -> bool:
        """Whether nothing more can be done in this cluster state; by default: no later reconciliation is requested."""
        return not cluster.waits


class ControllerFailed(SeatrialError):
    """A user's controller raised: which one, on which object, and how."""


class UserControllerParticipant:
    """Drives a user's controller from a queue of changed objects, one per loop."""

    def __init__(self, controller: UserController, store: Store, clock: Clock) -> None:
        self.name = controller.name
        self._controller = controller
        self._store = store
        self._cluster = Cluster(store, clock, controller.name)
        self._cluster._enqueue = self._enqueue
        self._queue: dict[Key, Document | None] = {}
        self._unsubscribe: Callable[[], None] | None = None

    def start(self) -> None:
        # Custom kinds may come later than the controller, so kinds are compared by name.
        self._unsubscribe = self._store.subscribe(self._notice)
        for watched in self._controller.watches:
            api_version, _, kind = watched.rpartition("/")
            found = self._store.kinds.named(api_version, kind)
            for stored in self._store.list(found) if found is not None else ():
                self._enqueue((watched, stored.namespace, stored.name))

    def stop(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()
        for timer in self._cluster._timers.values():
            timer.cancel()
        self._cluster._timers.clear()
        self._queue.clear()

    def has_work(self) -> bool:
        return bool(self._queue)

    def work(self) -> bool:
        key = next(iter(self._queue))
        gone = self._queue.pop(key)
        kind, namespace, name = key
        self._cluster._key = key
        current = self._cluster.find(kind, name, namespace)
        try:
            if current is not None:
                self._controller.reconcile(self._cluster, current)
            elif gone is not None:
                self._controller.removed(self._cluster, gone)
        except (Exception, SystemExit) as error:
            where = f"{namespace}/{name}" if namespace else name
            raise self._failed(f" on {kind.rpartition('/')[2]} {where}", error) from error
        return True

    def wait_condition(self) -> bool:
        try:
            return not self._queue and self._controller.wait_condition(self._cluster)
        except (Exception, SystemExit) as error:
            raise self._failed("", error) from error

    def unserved(self) -> list[str]:
        """The kinds that it watches and that are not served, so that it is never called for them."""
        return [watched for watched in self._controller.watches if not is_served(watched, self._store.kinds)]

    def _failed(self, where: str, error: BaseException) -> ControllerFailed:
        return ControllerFailed(f"controller {self.name}{where}: {type(error).__name__}: {error}")

    def _notice(self, change: Change) -> None:
        stored = change.stored
        name = f"{stored.kind.api_version}/{stored.kind.kind}"
        # Results are written onto pods by `serve` alone: a controller must see there what it sees in a run.
        if name in self._controller.watches and change.writer != ANNOTATOR:
            gone = stored.document() if change.type == "DELETED" else None
            self._queue[name, stored.namespace, stored.name] = gone

    def _enqueue(self, key: Key) -> None:
        self._queue[key] = None


def check(controller: Any) -> UserController:
    """A controller that may take part in scenarios; ConfigError says why not."""
    if not controller.name or not controller.watches:
        raise ConfigError("", type(controller).__name__, "expected a name and the kinds it watches")
    if controller.uses_real_time:
        why = "it goes by real time, and a scenario has none: only controllers that refer to objects alone can be used"
        raise ConfigError("", f"controller {controller.name}", why)
    for watched in controller.watches:
        _check_watched(controller.name, watched)
    checked: UserController = controller
    return checked


def is_served(watched: str, kinds: Kinds) -> bool:
    """Whether a kind that a controller watches is there."""
    api_version, _, kind = watched.rpartition("/")
    return kinds.named(api_version, kind) is not None


def _check_watched(name: str, watched: Any) -> None:
    """A custom kind may come later; one of a group that is built in never does."""
    form = WATCHED.fullmatch(watched) if isinstance(watched, str) else None
    if form is None:
        why = f"watches: expected apiVersion/Kind such as v1/Node or example.com/v1/NodeSet, got {watched!r}"
        raise ConfigError("", f"controller {name}", why)
    kinds = builtin_kinds()
    if not is_served(watched, kinds) and any(kind.group == (form["group"] or "") for kind in kinds):
        raise ConfigError("", f"controller {name}", f"watches: there is no kind {watched}")
