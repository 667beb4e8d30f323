"""Selects the writes that are operations of the timeline.

Operations are spec-level writes. Status, events, leases and the nominated node do not count: they move no step and
are kept in the rows only. A deletion is an operation when it is asked for, not when the last finalizer leaves.
"""

from typing import Literal

from seatrial.model.kinds import Kind
from seatrial.scheduler import ANNOTATOR
from seatrial.store import Change, Stored

Verb = Literal["create", "patch", "delete", ""]
QUIET_KINDS = frozenset({("", "Event"), ("events.k8s.io", "Event"), ("coordination.k8s.io", "Lease")})
QUIET_SUBRESOURCES = frozenset({"status"})


def verb_of(change: Change) -> Verb:
    """How a write counts as an operation; empty where it does not."""
    stored = change.stored
    if not counts(stored.kind, change.previous, change.writer, change.subresource):
        return ""
    if change.type == "ADDED":
        return "create"
    if change.subresource == "binding":
        return "patch"
    return "delete" if change.type == "DELETED" or stored.is_deleting else "patch"


def counts(kind: Kind, previous: Stored | None, writer: str, subresource: str) -> bool:
    """Whether a write on its way into the store is an operation."""
    if subresource in QUIET_SUBRESOURCES or writer == ANNOTATOR or kind.group_kind in QUIET_KINDS:
        return False
    return previous is None or not previous.is_deleting
