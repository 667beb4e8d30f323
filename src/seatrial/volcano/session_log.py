"""Records what sessions say about jobs and queues: a row whenever it has changed, and the state at the end of a run.

Upstream has this in its log and in gauges only. Nothing of it is read by the scheduler.
"""

from collections.abc import Iterable
from typing import Protocol

from seatrial.model.documents import encode
from seatrial.store import Store
from seatrial.volcano.apis import POD_GROUP, QUEUE, kind_of
from seatrial.volcano.cache.resource import Resource
from seatrial.volcano.framework.explanation import Explanation
from seatrial.volcano.framework.explanation_words import JobWords, title_of
from seatrial.volcano.framework.queue_state import QueueState
from seatrial.volcano.framework.session import Session

REPLICA_SET = ("apps/v1", "ReplicaSet")


class SessionNotes(Protocol):
    """Takes what a session says about an object."""

    def note(self, types: tuple[str, str], namespace: str, name: str, data: bytes, at: int) -> None: ...


class SessionLog:
    """Compares each session with the one before."""

    def __init__(self, store: Store, notes: SessionNotes | None) -> None:
        self._store, self._notes = store, notes
        self._reasons: dict[str, tuple[str, str]] = {}
        """The phase and reason that were last noted, by job."""
        self._queues: dict[str, bytes] = {}
        self._waiting: list[Explanation] = []
        self._at = 0

    def take(self, session: Session, waiting: list[Explanation]) -> None:
        """Take in a session; words are made only for jobs whose reason has changed."""
        self._waiting, self._at = waiting, session.now
        if self._notes is None:
            return
        for each in waiting:
            words = self.words_of(each)
            said = each.phase, words.reason
            if self._reasons.get(each.job) != said:
                self._reasons[each.job] = said
                self._note_job(words)
        for name, state in queue_states(session).items():
            data = encode(state.document())
            if self._queues.get(name) != data:
                self._queues[name] = data
                self._notes.note(QUEUE, "", name, data, self._at)

    def finish(self) -> None:
        """Note every waiting job as the last session left it."""
        if self._notes is not None:
            for words in self.waiting():
                self._note_job(words)

    def waiting(self) -> Iterable[JobWords]:
        """The jobs that wait after the last session, in words."""
        return (self.words_of(each) for each in self._waiting)

    def words_of(self, each: Explanation) -> JobWords:
        return JobWords(each, self._title)

    def _note_job(self, words: JobWords) -> None:
        assert self._notes is not None
        namespace, _, name = words.uid.partition("/")
        self._notes.note(POD_GROUP, namespace, name, encode(words.document()), self._at)

    def _title(self, each: Explanation) -> str:
        """A job is called by its workload: by the Deployment where its pods are those of a ReplicaSet."""
        namespace, _, own = each.job.partition("/")
        kind, name = each.owner
        if kind == "ReplicaSet":
            stored = self._store.find_current(kind_of(self._store, REPLICA_SET), name, namespace)
            owners = stored.document()["metadata"].get("ownerReferences") or () if stored is not None else ()
            for owner in owners:
                kind, name = owner["kind"], owner["name"]
        return title_of(kind, f"{namespace}/{name or own}")


def queue_states(session: Session) -> dict[str, QueueState]:
    """All queues at the end of a session: as their plugin counts them, or as their spec has them."""
    found = {
        name: QueueState(
            queue.parent, queue.weight, queue.deserved, Resource(), queue.guarantee, queue.capability or Resource()
        )
        for name, queue in session.queues.items()
    }
    for plugin in session.plugins.values():
        found |= plugin.queue_states()
    for job in session.jobs.values():
        phases = found[job.queue].jobs
        phase = job.pod_group.phase or "Pending"
        phases[phase] = phases.get(phase, 0) + 1
    return found
