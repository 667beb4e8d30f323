"""For controllers and schedulers that run beside the engine and cooperate with it (KEP-140, both versions).

A controller calls `check_scenario_step_phase` at the end of its loop; a scheduler that takes pods one by one tells
`SchedulingHook` of each pod it takes. Both only look at the status of the Scenario that is running.
"""

from collections.abc import Collection, Iterable
from queue import SimpleQueue

from seatrial.model.documents import Document
from seatrial.scenario.scenario_resource import status_of
from seatrial.scenario.spec.dialect import OPERATIONS, SCHEDULING, Phase
from seatrial.scenario.spec.kind import SCENARIO
from seatrial.store.objects import Change
from seatrial.store.store import Store

PAUSED = OPERATIONS.phase(Phase.PAUSED)
COMPLETED = OPERATIONS.phase(Phase.OPERATED)


def check_scenario_step_phase(name: str, config: Iterable[Document]) -> None:
    """Come back at once, unless this very controller is paused: then when the phase becomes OperatingCompleted.

    To be called at the end of a controller's loop; `config` gives the statuses of the running Scenario.
    """
    is_paused = False
    for status in config:
        step = status.get("stepStatus") or {}
        if not is_paused:
            is_paused = step.get("phase") == PAUSED and step.get("runningSimulationController") == name
        if not is_paused or step.get("phase") == COMPLETED:
            return


class StoreStatuses:
    """The statuses of the running Scenario of a store in this process, for controllers in threads of their own."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __iter__(self) -> "StoreStatuses._Stream":
        return self._Stream(self._store)

    class _Stream:
        def __init__(self, store: Store) -> None:
            self._news: SimpleQueue[Document] = SimpleQueue()
            self._stop = store.subscribe(self._notice, [SCENARIO])
            present = [status_of(stored) for stored in store.list(SCENARIO)]
            self._news.put(next((status for status in present if status.get("phase") == "Running"), {}))

        def __iter__(self) -> "StoreStatuses._Stream":
            return self

        def __next__(self) -> Document:
            return self._news.get()

        def _notice(self, change: Change) -> None:
            self._news.put(status_of(change.stored))

        def __del__(self) -> None:
            self._stop()


class TriedTwice:
    """Tells when nothing more can be scheduled, from the pods that are taken and the changes that are seen.

    That is so when every pending pod was taken twice since the last binding or preemption. Twice, because binding
    goes on beside: after once, the last success might not be visible yet.
    """

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def take(self, pod: str) -> None:
        """A scheduler takes a pod to try it."""
        self._taken[pod] = self._taken.get(pod, 0) + 1

    def change(self) -> None:
        """A pod was bound or preempted: all counts begin anew."""
        self._taken.clear()

    def is_finished(self, pending: Collection[str]) -> bool:
        return all(self._taken.get(pod, 0) >= 2 for pod in pending)


class SchedulingHook:
    """The function that an outside scheduler calls at the top of its loop, with the pod it is about to try."""

    def __init__(self) -> None:
        self.detector = TriedTwice()

    def may_schedule(self, status: Document) -> bool:
        """Whether the scheduler may go on, by the status of the running Scenario (schedulerStatus, or the phase)."""
        if "schedulerStatus" in status:
            return bool(status["schedulerStatus"] == SCHEDULING)
        return bool((status.get("stepStatus") or {}).get("phase") == OPERATIONS.phase(Phase.RUNNING))

    def next_pod(self, pod: str, statuses: Iterable[Document]) -> None:
        """Wait until scheduling is allowed, and note the pod."""
        for status in statuses:
            if self.may_schedule(status):
                break
        self.detector.take(pod)
