"""The Jobs and PodGroups as the controller last heard of them; each is decoded once when it changes.

Upstream: pkg/controllers/cache, and the listers of the Job controller.
"""

from functools import lru_cache
from typing import NamedTuple

import msgspec

from seatrial.controllers.framework import Key
from seatrial.model.documents import Document
from seatrial.store import Memo, Stored
from seatrial.store.registry import encoded_status
from seatrial.volcano.controllers.job.status import JOBS_KEPT, STATUSES_KEPT, JobView, read_job

_alike: Memo[int, Document] = Memo(JOBS_KEPT)
"""By likeness: a Job."""


class JobInfo(NamedTuple):
    """A Job at one revision."""

    stored: Stored
    view: JobView

    @property
    def key(self) -> Key:
        return self.stored.namespace, self.stored.name

    def document(self) -> Document:
        """The Job without its status; Jobs that are alike share their spec, so it is not to be changed."""
        facets = self.stored.facets
        if facets is None:
            return self.stored.document()
        like = _alike.get(facets.likeness)
        if like is None:
            like = _alike[facets.likeness] = self.stored.document()
            like.pop("status", None)
        own = {"name": self.stored.name, "uid": facets.uid, "resourceVersion": str(self.stored.revision)}
        return {**like, "metadata": {**like["metadata"], **own}}

    @property
    def group(self) -> Key:
        """Namespace and name of its PodGroup."""
        return self.stored.namespace, f"{self.stored.name}-{self.view.metadata.uid}"


class _Owner(msgspec.Struct, rename="camel", gc=False):
    api_version: str = ""
    kind: str = ""
    name: str = ""


class _Metadata(msgspec.Struct, rename="camel"):
    generation: int = 0
    owner_references: list[_Owner] = []


class _Status(msgspec.Struct, gc=False):
    phase: str = ""


class GroupView(msgspec.Struct):
    """What the controller reads of a PodGroup."""

    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    status: _Status = msgspec.field(default_factory=_Status)

    @property
    def is_enqueued(self) -> bool:
        return self.status.phase not in ("", "Pending")

    def owner(self, api_version: str) -> str:
        """The name of the Job that has this group; empty where none has."""
        owners = self.metadata.owner_references
        return next((owner.name for owner in owners if owner.kind == "Job" and owner.api_version == api_version), "")


_group_decoder = msgspec.json.Decoder(GroupView)
_kin: Memo[int, GroupView] = Memo(JOBS_KEPT)
"""By template: a PodGroup."""
_status = lru_cache(STATUSES_KEPT)(msgspec.json.Decoder(_Status).decode)


def _differ_in_status(before: Stored, now: Stored) -> bool:
    """Whether two states of an object are known to differ in the status alone."""
    old, new = before.facets, now.facets
    return old is not None and new is not None and old.likeness == new.likeness and old.uid == new.uid


def _read_group(stored: Stored) -> GroupView:
    """What is read of a PodGroup; those of one template are decoded once."""
    facets = stored.facets
    own = facets.owner() if facets is not None else None
    if facets is None or facets.kin is None or own is None:
        return _group_decoder.decode(stored.data)
    like = _kin.get(facets.kin.number)
    if like is None:
        like = _kin[facets.kin.number] = _group_decoder.decode(stored.data)
    (owner,) = like.metadata.owner_references
    metadata = _Metadata(like.metadata.generation, [_Owner(owner.api_version, owner.kind, own[0])])
    return GroupView(metadata, _status(facets.status or b"{}"))


class JobCache:
    """Jobs and PodGroups by namespace and name."""

    def __init__(self) -> None:
        self._jobs: dict[Key, JobInfo] = {}
        self._groups: dict[Key, tuple[Stored, GroupView]] = {}

    def put_job(self, stored: Stored) -> JobInfo:
        """Take the new state of a Job."""
        info = self._jobs[stored.namespace, stored.name] = JobInfo(stored, read_job(stored))
        return info

    def remove_job(self, key: Key) -> JobInfo | None:
        return self._jobs.pop(key, None)

    def job(self, key: Key) -> JobInfo | None:
        return self._jobs.get(key)

    def put_group(self, stored: Stored) -> GroupView:
        """Take the new state of a PodGroup; where only its status has changed, no more than that is read."""
        key = stored.namespace, stored.name
        before = self._groups.get(key)
        if before is not None and _differ_in_status(before[0], stored):
            view = GroupView(before[1].metadata, _status(encoded_status(stored) or b"{}"))
        else:
            view = _read_group(stored)
        self._groups[key] = stored, view
        return view

    def remove_group(self, key: Key) -> None:
        self._groups.pop(key, None)

    def group(self, key: Key) -> tuple[Stored, GroupView] | None:
        return self._groups.get(key)

    def clear(self) -> None:
        self._jobs.clear()
        self._groups.clear()
