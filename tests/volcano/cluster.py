"""A cluster with all controllers and Volcano's, in virtual time; tests play the scheduler."""

from seatrial.clock.virtual import Clock
from seatrial.controllers.framework.events import EventRecorder
from seatrial.controllers.registry import build_controllers
from seatrial.model.documents import Document
from seatrial.store.registry.status_writes import write_status
from seatrial.volcano.apis import JOB, POD_GROUP, kind_of
from seatrial.volcano.controllers.registry import build_controllers as build_volcano_controllers
from tests.volcano.objects import create, found, volcano_store

MOST_TURNS = 10_000


class Cluster:
    """Everything but a scheduler."""

    def __init__(self, *, events: bool = False) -> None:
        self.clock = Clock()
        self.store = volcano_store(self.clock)
        recorder = EventRecorder(self.store, self.clock) if events else None
        self.controllers = [
            *build_controllers(self.store, self.clock),
            build_volcano_controllers(self.store, self.clock, recorder),
        ]
        for controller in self.controllers:
            controller.start()
        self.work()

    def create(self, *documents: Document) -> None:
        for document in documents:
            create(self.store, document)
        self.work()

    def work(self) -> None:
        for _ in range(MOST_TURNS):
            if not [controller for controller in self.controllers if controller.work()]:
                return
        raise AssertionError(f"no rest: {[c.name for c in self.controllers if c.has_work()]}")

    def wait(self, microseconds: int) -> None:
        """Let time pass."""
        self.work()
        end = self.clock.now() + microseconds
        while any(when is not None and when <= end for when in (self.clock.next_inner(), self.clock.next_outer())):
            self.clock.fire_next(outer=True)
            self.work()
        self.clock.advance(end)

    def set_phase(self, phase: str) -> None:
        """Give every PodGroup a phase, as the scheduler does."""
        for stored in self.store.list(kind_of(self.store, POD_GROUP)):
            write_status(self.store, stored, {"phase": phase}, "test")
        self.work()

    def groups(self) -> list[Document]:
        return [stored.document() for stored in self.store.list(kind_of(self.store, POD_GROUP))]

    def pods(self) -> list[Document]:
        return [stored.document() for stored in self.store.list(kind_of(self.store, ("v1", "Pod")))]

    def names(self) -> list[str]:
        return [pod["metadata"]["name"] for pod in self.pods()]

    def run(self, *names: str) -> None:
        """Pods come up; all of them where none is named."""
        for name in names or self.names():
            self.end(name, "Running")
        self.work()

    def end(self, name: str, phase: str, exit_code: int = 0) -> None:
        """Give a pod a phase."""
        status: Document = {"phase": phase}
        if phase in ("Succeeded", "Failed"):
            state = {"terminated": {"exitCode": exit_code}}
            status["containerStatuses"] = [{"name": "main", "ready": False, "restartCount": 0, "state": state}]
        stored = self.store.get(kind_of(self.store, ("v1", "Pod")), name, "default")
        write_status(self.store, stored, status, "test")
        self.work()

    def job(self, name: str = "train") -> Document:
        return found(self.store, JOB, name)

    def phase(self, name: str = "train") -> str:
        phase: str = self.job(name)["status"]["state"]["phase"]
        return phase
