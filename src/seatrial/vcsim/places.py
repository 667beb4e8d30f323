"""Which pod takes the place of which, so that a pod that is recreated counts once.

A Volcano Job and a StatefulSet give the name of a pod again. The controllers of RENAMING choose a new name, so that a
new pod of theirs takes the place of one that ended or is being deleted.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

RENAMING: Final = {
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "DaemonSet"),
    ("v1", "ReplicationController"),
    ("batch/v1", "Job"),
}
"""Controllers that give each pod a name of its own."""


class Owner(msgspec.Struct, rename="camel"):
    """An owner reference."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


def renaming_owner(owners: Sequence[Owner]) -> str:
    """The uid of the controller where it gives pods new names; empty where a name is given again."""
    found = next((owner for owner in owners if owner.controller), None)
    return found.uid if found is not None and (found.api_version, found.kind) in RENAMING else ""


class Places:
    """The places of pods in their owners; `owner` is what `renaming_owner` says."""

    def __init__(self) -> None:
        self._named: dict[tuple[str, str], str] = {}
        self._vacant: dict[str, dict[str, None]] = {}
        """By owner: its pods that ended and have no successor, the oldest first."""
        self._left: set[str] = set()

    def enter(self, uid: str, namespace: str, name: str, owner: str) -> str | None:
        """The uid of the pod whose place a new pod takes; None where its place is new."""
        key = namespace, name
        before = self._named.get(key)
        self._named[key] = uid
        if not owner:
            return before
        vacant = self._vacant.get(owner, {})
        if before is None:
            before = next(iter(vacant), None)
        if before is not None:
            vacant.pop(before, None)
        return before

    def leave(self, uid: str, owner: str) -> None:
        """A pod ended or is being deleted."""
        if owner and uid not in self._left:
            self._left.add(uid)
            self._vacant.setdefault(owner, {})[uid] = None
