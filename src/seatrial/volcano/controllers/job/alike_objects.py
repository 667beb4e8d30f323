"""Creates the pods and PodGroups of Jobs that are alike without making a document for each of them.

Thousands of small Jobs are created from one template. What the controller makes for them differs in the name and the
uid of the Job alone, so from the second Job on it is a family of the store, see `store.registry.templates`.
"""

from collections.abc import Callable, Hashable
from typing import NamedTuple

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.store import Family, Memo, Store
from seatrial.store.options import CreateOptions
from seatrial.volcano.controllers.job.job_cache import JobInfo

FAMILIES_KEPT = 4096
NAME, UID = "\0name\0", "\0uid\0"
"""In the place of the Job's own, in the document that tells where these go."""
Make = Callable[[Document], Document]
"""Makes an object for a Job."""


class _Alike(NamedTuple):
    """A family, and the values of its variable fields with the places of the Job's name and uid."""

    family: Family
    pattern: tuple[object, ...]

    def values(self, name: str, uid: str) -> list[object]:
        return [
            value.replace(NAME, name).replace(UID, uid) if isinstance(value, str) and "\0" in value else value
            for value in self.pattern
        ]


class AlikeObjects:
    """Objects of one kind that Jobs have."""

    def __init__(self, store: Store, kind: Kind, writer: str, options: CreateOptions) -> None:
        self._store, self._kind = store, kind
        self._writer, self._options = writer, options
        self._kept: Memo[Hashable, _Alike | None] = Memo(FAMILIES_KEPT)
        self._seen: set[Hashable] = set()

    def create(self, job: JobInfo, which: tuple[Hashable, ...], name: str, make: Make) -> None:
        """Create an object of a Job, which is known by its name; `which` of those that Jobs that are alike have."""
        alike = self._find(job, which, make)
        if alike is not None:
            values = alike.values(job.stored.name, job.view.metadata.uid)
            if self._store.create_in(alike.family, name, values, writer=self._writer) is not None:
                return
        namespace = job.stored.namespace
        document = make(job.document())
        self._store.create(self._kind, document, namespace=namespace, writer=self._writer, options=self._options)

    def _find(self, job: JobInfo, which: tuple[Hashable, ...], make: Make) -> _Alike | None:
        facets = job.stored.facets
        if facets is None:
            return None
        key = (facets.likeness, *which)
        if key in self._kept:
            return self._kept[key]
        if key not in self._seen:
            if len(self._seen) >= FAMILIES_KEPT:
                self._seen.clear()
            self._seen.add(key)
            return None
        found = self._kept[key] = self._family(job, make)
        return found

    def _family(self, job: JobInfo, make: Make) -> _Alike | None:
        """None where the name or the uid of the Job goes where the store does not expect it."""
        document, namespace = job.document(), job.stored.namespace
        marked = {**document, "metadata": {**document["metadata"], "name": NAME, "uid": UID}}
        family, pattern = (
            self._store.family(self._kind, make(one), namespace, self._options) for one in (document, marked)
        )
        if family is None or pattern is None or family.likes != pattern.likes:
            return None
        alike = _Alike(family, tuple(field.value for field in pattern.fields))
        own = [field.value for field in family.fields]
        return alike if alike.values(job.stored.name, job.view.metadata.uid) == own else None
