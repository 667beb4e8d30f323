"""Which writes are operations of the timeline.

Operations are spec-level writes. Status, events, leases and the nominated node do not count: they move no step and
are kept in the rows only. A deletion is an operation when it is asked for, not when the last finalizer leaves.
"""

from typing import Literal

import msgspec

from seatrial.store.objects import Change, Stored

Verb = Literal["create", "patch", "delete", ""]
QUIET_KINDS = frozenset({("", "Event"), ("events.k8s.io", "Event"), ("coordination.k8s.io", "Lease")})
QUIET_SUBRESOURCES = frozenset({"status"})
ANNOTATOR = "seatrial:annotations"
"""The writer of result annotations; what it writes is never an operation."""


def verb_of(change: Change) -> Verb:
    """How a write counts as an operation; empty where it does not."""
    stored, previous = change.stored, change.previous
    if stored.kind.group_kind in QUIET_KINDS or change.writer == ANNOTATOR:
        return ""
    if change.type == "ADDED":
        return "create"
    if previous is not None and is_terminating(previous):
        return ""
    if change.type == "DELETED":
        return "delete"
    if change.subresource in QUIET_SUBRESOURCES:
        return ""
    return "delete" if is_terminating(stored) else "patch"


def is_terminating(stored: Stored) -> bool:
    """Whether a deletion was asked for already."""
    data = stored.data
    return b'"deletionTimestamp"' in data and bool(
        msgspec.json.decode(data, type=_Terminating).metadata.deletion_timestamp
    )


class _Metadata(msgspec.Struct, rename="camel"):
    deletion_timestamp: str | None = None


class _Terminating(msgspec.Struct):
    metadata: _Metadata
