"""How an outside controller is known to have nothing more to do in its turn."""

import time
from collections.abc import Callable
from typing import Protocol

from seatrial.model.errors import ScenarioError
from seatrial.outside.pods import Key, PendingPods
from seatrial.outside.scheduling_end import SchedulingEnd
from seatrial.outside.session import Session


class Idle(Protocol):
    """A rule by which the end of a turn is known."""

    def begin(self) -> None:
        """A turn begins."""

    def has_work(self) -> bool:
        """Whether the controller has to be given a turn."""

    def wait(self) -> float | None:
        """None: it is idle; else the seconds after which to ask again, infinite where only an event can tell."""

    def doing(self) -> str:
        """What the controller is waited for, in words."""


FOR_AN_EVENT = float("inf")


class Verdicts:
    """A scheduler is idle when every pending pod has a verdict, and it has had time to explain the latest."""

    def __init__(self, pods: PendingPods, explaining: Callable[[], float | None]) -> None:
        self._pods, self._explaining = pods, explaining

    def begin(self) -> None:
        """Nothing to prepare."""

    def has_work(self) -> bool:
        return bool(self._pods.untried) or self._explaining() is not None

    def wait(self) -> float | None:
        return FOR_AN_EVENT if self._pods.untried else self._explaining()

    def doing(self) -> str:
        untried = sorted(f"{namespace}/{name}" for namespace, name in self._pods.untried)
        more = f" and {len(untried) - 3} more" if len(untried) > 3 else ""
        pods = "pod has" if len(untried) == 1 else "pods have"
        named = ", ".join(untried[:3])
        return f"{len(untried)} pending {pods} no verdict (bound, or PodScheduled=False): {named}{more}"


class Changes:
    """What the other rules share: a controller gets a turn after each change that is not its own."""

    def __init__(self) -> None:
        self.is_rested = False

    def has_work(self) -> bool:
        return not self.is_rested


class Quiet(Changes):
    """Idle when everything was sent to its watches and it has written nothing in a window of real time."""

    def __init__(self, session: Session, seconds: float) -> None:
        super().__init__()
        self._session, self._seconds = session, seconds
        self._reads = 0
        self._seen = -1
        self._since = 0.0

    def begin(self) -> None:
        self._reads, self._seen = self._session.reads, -1

    def wait(self) -> float | None:
        session, now = self._session, time.monotonic()
        if not session.watches.is_delivered():
            self._seen = -1
            return FOR_AN_EVENT
        if not session.watches.kinds and session.reads == self._reads:
            return FOR_AN_EVENT
        if self._seen != session.activity:
            self._seen, self._since = session.activity, now
        left = self._since + self._seconds - now
        return left if left > 0 else None

    def doing(self) -> str:
        if not self._session.watches.kinds and self._session.reads == self._reads:
            return "it has neither an open watch nor read anything in its turn"
        return f"it made no pause of {self._seconds:g} s"


class Interval(Changes):
    """A program that works at intervals of real time: idle when a whole interval has brought no write.

    It gets a turn after each change that is not its own, and whenever virtual time has moved on.
    """

    SLACK = 0.5
    """Seconds beyond the interval in which the work of one tick may begin to write."""

    def __init__(self, session: Session, seconds: float, now: Callable[[], int]) -> None:
        super().__init__()
        self._session, self._seconds, self._now = session, seconds, now
        self._begun = -1
        self._seen = -1
        self._since = 0.0

    def has_work(self) -> bool:
        return not self.is_rested or self._now() != self._begun

    def begin(self) -> None:
        self._begun, self._seen = self._now(), -1

    def wait(self) -> float | None:
        session, now = self._session, time.monotonic()
        if not session.watches.is_delivered():
            self._seen = -1
            return FOR_AN_EVENT
        if self._seen != session.activity:
            self._seen, self._since = session.activity, now
        left = self._since + self._seconds + self.SLACK - now
        return left if left > 0 else None

    def doing(self) -> str:
        return f"it wrote in every interval of {self._seconds:g} s"


class Waiter(Changes):
    """Idle when a function of the user's says so (KEP-140's ControllerWaiter)."""

    def __init__(self, session: Session, condition: Callable[[], bool]) -> None:
        super().__init__()
        self._session, self._condition = session, condition

    def begin(self) -> None:
        """Nothing to prepare."""

    def wait(self) -> float | None:
        """As the protocol says; ScenarioError where the function raises."""
        try:
            is_over = self._session.watches.is_delivered() and self._condition()
        except (Exception, SystemExit) as error:
            raise ScenarioError("", f"has a waiter that raised {type(error).__name__}: {error}") from error
        return None if is_over else FOR_AN_EVENT

    def doing(self) -> str:
        return "its waiter is not satisfied"


class Taken:
    """A scheduler that names each pod it takes: idle when every pending pod was taken twice without a change.

    A pod that is taken once and then rests in the scheduler's queue is brought back by the forced sweeps.
    """

    def __init__(self, session: Session, pods: PendingPods, seconds: float) -> None:
        self._session, self._pods = session, pods
        self._window = Quiet(session, seconds)
        self._detector = SchedulingEnd()

    def begin(self) -> None:
        self._window.begin()

    def take(self, pod: Key) -> bool:
        """Whether a pod may be tried now; False where nothing more can be scheduled."""
        if pod not in self._pods:
            return True
        if self._detector.is_finished(list(self._pods)):
            return False
        self._detector.take(pod)
        self._session.activity += 1
        return True

    def change(self) -> None:
        """A pod was bound or preempted, or every pod is to be tried again."""
        self._detector.change()

    def has_work(self) -> bool:
        return bool(self._pods.untried)

    def wait(self) -> float | None:
        if not len(self._pods):
            return None
        return FOR_AN_EVENT if self._pods.untried else self._window.wait()

    def doing(self) -> str:
        untried = sorted(f"{namespace}/{name}" for namespace, name in self._pods.untried)
        return f"it has not taken {', '.join(untried[:3])}" if untried else self._window.doing()
