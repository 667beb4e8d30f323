"""The Jobs and PodGroups as the controller last heard of them; each is decoded once when it changes.

Upstream: pkg/controllers/cache, and the listers of the Job controller.
"""

from typing import NamedTuple

import msgspec

from seatrial.controllers.framework import Key
from seatrial.model.documents import Document
from seatrial.store import OwnerReference, StatusView, Stored, View
from seatrial.volcano.controllers.job.status import JOBS_KEPT, JobView, read_job


def _without_status(job: Document) -> Document:
    return {field: value for field, value in job.items() if field != "status"}


_DOCUMENT = View(dict, _without_status, without=(("status",), ("metadata", "managedFields")), kept=JOBS_KEPT)


class JobInfo(NamedTuple):
    """A Job at one revision."""

    stored: Stored
    view: JobView

    @property
    def key(self) -> Key:
        return self.stored.namespace, self.stored.name

    def document(self) -> Document:
        """The Job without its status; not to be changed, since Jobs share their spec."""
        return _DOCUMENT.read(self.stored)

    @property
    def group(self) -> Key:
        """Namespace and name of its PodGroup."""
        return self.stored.namespace, f"{self.stored.name}-{self.view.uid}"


class _Metadata(msgspec.Struct, rename="camel"):
    generation: int = 0
    owner_references: list[OwnerReference] = []


class _Status(msgspec.Struct, gc=False):
    phase: str = ""


class _Group(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class GroupView(NamedTuple):
    """What the controller reads of a PodGroup."""

    metadata: _Metadata
    phase: str

    @property
    def is_enqueued(self) -> bool:
        return self.phase not in ("", "Pending")

    def owner(self, api_version: str) -> str:
        """The name of the Job that has this group; empty where none has."""
        owners = self.metadata.owner_references
        return next((owner.name for owner in owners if owner.kind == "Job" and owner.api_version == api_version), "")


_GROUP, _PHASE = View(_Group, kept=JOBS_KEPT), StatusView(_Status, lambda status: status.phase, kept=JOBS_KEPT)


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
        """Take the new state of a PodGroup."""
        view = GroupView(_GROUP.read(stored).metadata, _PHASE.read(stored))
        self._groups[stored.namespace, stored.name] = stored, view
        return view

    def remove_group(self, key: Key) -> None:
        self._groups.pop(key, None)

    def group(self, key: Key) -> tuple[Stored, GroupView] | None:
        return self._groups.get(key)

    def clear(self) -> None:
        self._jobs.clear()
        self._groups.clear()
