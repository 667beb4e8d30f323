"""The history of each pod so far, from which the PodResult of KEP-140 is made."""

from collections.abc import Iterator

import msgspec

from seatrial.store import Change, StatusView, Stored, View
from seatrial.timeline.attempt_lists import NO_ATTEMPTS, AttemptList, AttemptLists, Tried
from seatrial.timeline.wire import Shape, pod_result

StepPair = tuple[int, int]
ENDED = ("Succeeded", "Failed")


class PodHistory:
    """One pod from its creation to its end."""

    __slots__ = (
        "bound_at", "bound_to", "created_at", "finished", "gone", "latest", "listed",
        "preempted_at", "preempted_by", "shown", "shown_in",
    )  # fmt: skip

    def __init__(self, latest: Stored, created_at: StepPair) -> None:
        self.latest = latest
        self.created_at = created_at
        self.bound_at: StepPair | None = None
        self.bound_to: str | None = None
        self.preempted_at: StepPair | None = None
        self.preempted_by: str | None = None
        self.listed: AttemptList = NO_ATTEMPTS
        """The attempts as the next entry lists them."""
        self.shown = 0
        """How many of the attempts the latest entry about the pod lists."""
        self.shown_in = -1
        """The major step of that entry."""
        self.finished = False
        self.gone = False

    @property
    def key(self) -> str:
        """namespace/name"""
        return f"{self.latest.namespace}/{self.latest.name}"

    @property
    def is_pending(self) -> bool:
        return not self.gone and self.bound_to is None and not self.latest.is_deleting

    def bind(self, major: int, minor: int) -> None:
        self.bound_to, self.bound_at = node_of(self.latest), (major, minor)

    def add_attempt(self, tried: Tried, lists: AttemptLists) -> None:
        self.listed = lists.add(self.listed, tried)

    def shorten(self, lists: AttemptLists) -> None:
        """Reduce the attempts that an entry lists whole."""
        listed = self.listed
        self.listed = lists.shortened(listed, listed.length - (listed.number - self.shown))

    def preempt(self, major: int, minor: int) -> None:
        self.preempted_at = major, minor

    def result(self, pod: bytes, shape: Shape) -> tuple[bytes, ...]:
        """The history as it is now, as the body of an entry in pieces."""
        return pod_result(
            pod,
            self.bound_to,
            self.preempted_by,
            shape.step(*self.created_at),
            shape.step(*self.bound_at) if self.bound_at else None,
            shape.step(*self.preempted_at) if self.preempted_at else None,
            self.listed.encoded(),
        )


class PodHistories:
    """The histories of all pods there are, and of those that went in the loop that is still going on."""

    def __init__(self) -> None:
        self._alive: dict[str, PodHistory] = {}
        self._gone: dict[str, PodHistory] = {}
        self.lists = AttemptLists()
        """The lists of attempts that pods share."""
        self.bound = self.created = self.scheduled = self.preempted = self.deleted = 0

    def __len__(self) -> int:
        return len(self._alive)

    def __iter__(self) -> Iterator[PodHistory]:
        return iter(self._alive.values())

    @property
    def pending(self) -> int:
        """How many pods have no node yet."""
        return len(self._alive) - self.bound

    def ended(self) -> int:
        """How many pods have run to their end and are still there."""
        return sum(has_ended(history.latest) for history in self)

    def find(self, key: str) -> PodHistory | None:
        return self._alive.get(key)

    def follow(self, change: Change, major: int, minor: int) -> PodHistory:
        """Bring a history up to date with a write to its pod."""
        stored = change.stored
        key = f"{stored.namespace}/{stored.name}"
        history = self._alive.get(key)
        if history is None:
            history = self._alive[key] = PodHistory(stored, (major, minor))
            self._note_node(history, major, minor)
            self.created += 1
        history.latest = stored
        if change.type == "DELETED":
            history.gone = True
            self.deleted += 1
            self.bound -= history.bound_to is not None
            self._gone[key] = self._alive.pop(key)
        elif change.subresource == "binding":
            self.bound += history.bound_to is None
            self.scheduled += 1
            history.bind(major, minor)
        return history

    def adopt(self, stored: Stored, major: int, minor: int) -> PodHistory:
        """A pod that existed before the first step."""
        history = self._alive[f"{stored.namespace}/{stored.name}"] = PodHistory(stored, (major, minor))
        self._note_node(history, major, minor)
        return history

    def note_preemptor(self, victim: str, preemptor: str) -> PodHistory | None:
        """Note which pod preempted another, the first one that says so; the history of the victim where that is new."""
        history = self._gone.get(victim) or self._alive.get(victim)
        if history is None or history.preempted_by is not None:
            return None
        history.preempted_by = preemptor
        return history

    def forget_gone(self) -> None:
        self._gone.clear()

    def _note_node(self, history: PodHistory, major: int, minor: int) -> None:
        if node_of(history.latest) is not None:
            history.bind(major, minor)
            self.bound += 1


def node_of(stored: Stored) -> str | None:
    """The node a pod is bound to."""
    return stored.node_name or None


def scheduler_of(stored: Stored) -> str:
    """The scheduler that a pod names."""
    return _POD.read(stored).spec.scheduler_name or "default-scheduler"


def has_ended(stored: Stored) -> bool:
    """Whether a pod has run to its end; most pods have not, which needs no decoding."""
    return _HAS_ENDED.read(stored)


class _Spec(msgspec.Struct, rename="camel"):
    scheduler_name: str = ""


class _Status(msgspec.Struct):
    phase: str = ""


class _Pod(msgspec.Struct):
    spec: _Spec


_POD = View(_Pod)
_HAS_ENDED = StatusView(_Status, lambda status: status.phase in ENDED)
