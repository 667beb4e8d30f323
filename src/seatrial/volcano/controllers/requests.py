"""The base of the controllers of Jobs and queues: requests that wait for an object, and Commands that ask for more.

Upstream: the work queues of requests and of Commands in pkg/controllers/job and pkg/controllers/queue.
"""

from collections.abc import Hashable, Iterable
from typing import ClassVar, Generic, TypeVar

from seatrial.controllers.framework import Context, Key, QueueController
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound, StatusError
from seatrial.model.kinds import Kind
from seatrial.store import Change, Stored
from seatrial.volcano.apis import COMMAND

COMMANDS = "command:"
"""Keys of Commands carry this before the namespace, those of other objects do not."""
R = TypeVar("R", bound=Hashable)


class RequestController(QueueController, Generic[R]):
    """Serves the requests of each object in the order in which they came; equal ones that wait are one."""

    component: ClassVar[str] = "vc-controller-manager"
    reads_pods: ClassVar[bool] = False
    target: ClassVar[tuple[str, str]]
    """The kind of the objects."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind(*self.target)
        self.commands = context.kind(*COMMAND)
        self._requests: dict[Key, dict[R, None]] = {}

    def serve(self, key: Key, request: R) -> None:
        """Do what a request asks for."""
        raise NotImplementedError

    def serve_command(self, key: Key, command: Document) -> None:
        """Request the action of a Command on the object of this key."""
        raise NotImplementedError

    def owners(self) -> Iterable[Kind]:
        return []

    def start(self) -> None:
        super().start()
        for stored in self.store.list(self.commands):
            self._hear_command(stored)

    def stop(self) -> None:
        super().stop()
        self._requests.clear()

    def request(self, key: Key, request: R) -> None:
        """Serve a request when it is the turn of its object."""
        self._requests.setdefault(key, {})[request] = None
        self.enqueue(key)

    def sync(self, key: Key) -> None:
        """Serve the requests of an object; a refused one and those after it stay for the next try."""
        if key[0].startswith(COMMANDS):
            self._take_command(key[0].removeprefix(COMMANDS), key[1])
            return
        requests = self._requests.pop(key, {})
        for request in list(requests):
            try:
                self.serve(key, request)
            except StatusError:
                self._requests[key] = requests | self._requests.get(key, {})
                raise
            del requests[request]

    def command_changed(self, change: Change) -> None:
        """The event handler of Commands."""
        if change.type == "ADDED":
            self._hear_command(change.stored)

    def _hear_command(self, stored: Stored) -> None:
        target = stored.document().get("target") or {}
        if (target.get("apiVersion"), target.get("kind")) == self.target:
            self.enqueue((COMMANDS + stored.namespace, stored.name))

    def _take_command(self, namespace: str, name: str) -> None:
        """Delete a Command and request its action, so that it is carried out at most once."""
        stored = self.store.find(self.commands, name, namespace)
        if stored is None:
            return
        command = stored.document()
        try:
            self.store.delete(self.commands, name, namespace=namespace, writer=self.name)
        except NotFound:
            return
        self.serve_command((namespace if self.kind.namespaced else "", command["target"]["name"]), command)
