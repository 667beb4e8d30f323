"""Creates the pods and PodGroups of Jobs that are equal but for name and uid without making a document for each.

What the controller makes for such Jobs differs in the name and the uid of the Job alone, so from the second Job on its
creation is prepared, see `Store.prepare_create`.
"""

from collections.abc import Callable, Hashable
from typing import NamedTuple

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.scheduler.evaluator import chosen_shortcuts
from seatrial.store import Memo, PreparedCreate, Store
from seatrial.store.options import CreateOptions
from seatrial.volcano.controllers.job.job_cache import JobInfo

CREATES_KEPT = 4096
NAME, UID = "\0name\0", "\0uid\0"
"""In the place of the Job's own, in the document that tells where these go."""
Make = Callable[[Document], Document]
"""Makes an object for a Job."""


class _Prepared(NamedTuple):
    """A creation, and the values of its fields with the places of the Job's name and uid."""

    create: PreparedCreate
    pattern: tuple[object, ...]

    def values(self, name: str, uid: str) -> list[object]:
        return [
            value.replace(NAME, name).replace(UID, uid) if isinstance(value, str) and "\0" in value else value
            for value in self.pattern
        ]


class PreparedObjects:
    """Objects of one kind that Jobs have."""

    def __init__(self, store: Store, kind: Kind, writer: str, options: CreateOptions) -> None:
        self._store, self._kind = store, kind
        self._writer, self._options = writer, options
        self._kept: Memo[Hashable, _Prepared | None] = Memo(CREATES_KEPT)
        self._seen: set[Hashable] = set()
        self._is_on = chosen_shortcuts().volcano_creates

    def create(self, job: JobInfo, which: tuple[Hashable, ...], name: str, make: Make) -> None:
        """Create an object of a Job, which is known by its name; `which` of those that such Jobs have."""
        prepared = self._find(job, which, make)
        if prepared is not None:
            values = prepared.values(job.stored.name, job.view.uid)
            if self._store.create_prepared(prepared.create, name, values, writer=self._writer) is not None:
                return
        namespace = job.stored.namespace
        document = make(job.document())
        self._store.create(self._kind, document, namespace=namespace, writer=self._writer, options=self._options)

    def _find(self, job: JobInfo, which: tuple[Hashable, ...], make: Make) -> _Prepared | None:
        if job.stored.shape is None or not self._is_on:
            return None
        key = (job.stored.shape, *which)
        if key in self._kept:
            return self._kept[key]
        if key not in self._seen:
            if len(self._seen) >= CREATES_KEPT:
                self._seen.clear()
            self._seen.add(key)
            return None
        found = self._kept[key] = self._prepare(job, make)
        return found

    def _prepare(self, job: JobInfo, make: Make) -> _Prepared | None:
        """None where the name or the uid of the Job goes where the store does not expect it."""
        document, namespace = job.document(), job.stored.namespace
        marked = {**document, "metadata": {**document["metadata"], "name": NAME, "uid": UID}}
        create, pattern = (
            self._store.prepare_create(self._kind, make(one), namespace, self._options) for one in (document, marked)
        )
        if create is None or pattern is None or not create.differs_only_in_values(pattern):
            return None
        prepared = _Prepared(create, tuple(field.value for field in pattern.fields))
        own = [field.value for field in create.fields]
        return prepared if prepared.values(job.stored.name, job.view.uid) == own else None
