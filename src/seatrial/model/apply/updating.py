"""Ownership after an ordinary write: the fields it added or modified belong to its manager alone.

Follows merge/update.go of structured-merge-diff and the managers around it in apimachinery's managedfields.
"""

from dataclasses import replace
from typing import Any, Final

from seatrial.model.apply import entries as owners
from seatrial.model.apply import fieldsets
from seatrial.model.apply.comparing import Comparison, Filter, compare
from seatrial.model.apply.entries import UPDATE, Entries, Entry, Owner
from seatrial.model.apply.fieldsets import FieldSet, field, from_paths
from seatrial.model.apply.typed import TypeFault
from seatrial.model.apply.versions import Changes, InVersion, shape_in
from seatrial.model.documents import Document
from seatrial.model.patches.refusals import bounded
from seatrial.model.schema import Schema
from seatrial.model.times import to_time

_UNOWNED_METADATA: Final = (
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
)
STRIPPED: Final[FieldSet] = from_paths(
    [
        (field("apiVersion"),),
        (field("kind"),),
        (field("metadata"),),
        *((field("metadata"), field(name)) for name in _UNOWNED_METADATA),
    ]
)
"""Fields without an owner: the identity of the object and what only the server sets."""
EVERYTHING: Final = Filter()


def track_create(
    document: Document, *, manager: str, api_version: str, now: int, schema: Schema | None, owned: Filter = EVERYTHING
) -> None:
    """Set managedFields of a new object: all that is in it belongs to its creator."""
    track_update(None, document, manager=manager, api_version=api_version, now=now, schema=schema, owned=owned)


@bounded
def track_update(
    old: Document | None,
    new: Document,
    *,
    manager: str,
    api_version: str,
    now: int,
    schema: Schema | None,
    subresource: str = "",
    owned: Filter = EVERYTHING,
    convert: InVersion | None = None,
) -> None:
    """Set managedFields of `new`, which replaces `old` (None: it is created), in place.

    An object without any owner stays without, unless it is being created; a client resets all owners by sending
    `managedFields: []` or `[{}]`. What cannot be understood is dropped, as upstream does.
    """
    metadata = new.setdefault("metadata", {})
    sent = metadata.pop("managedFields", None)
    known = _live_or_sent(old, sent, subresource) if old is not None else _decoded(sent)
    if old is not None and not known:
        return
    owner = Owner(manager or "unknown", UPDATE, api_version, subresource)
    live = {key: value for key, value in (old or {}).items() if key != "metadata"}
    live["metadata"] = {
        key: value for key, value in ((old or {}).get("metadata") or {}).items() if key != "managedFields"
    }
    try:
        change = compare(live, new, shape_in(schema)).restricted(owned)
        changes = Changes(api_version, change, live, new, owned, convert)
        tracked = updated(known, owner, change, to_time(now), changes)
    except TypeFault:
        return
    if tracked:
        metadata["managedFields"] = owners.encode(owners.capped(tracked).values())


def updated(known: Entries, owner: Owner, change: Comparison, time: str, changes: Changes | None = None) -> Entries:
    """The entries after a change by `owner`; `changes` has it in the versions of the others."""
    result = taken(known, change, changes=changes)
    fields = fieldsets.difference(change.changed, STRIPPED)
    if not fields:
        return result
    previous = result.get(owner)
    if previous is not None and previous.fields is None:
        result[owner] = replace(previous, time=time)
    else:
        mine = fieldsets.union(fields, (previous.fields or {}) if previous is not None else {})
        result[owner] = Entry(owner, mine, time, owner.api_version)
    return result


def taken(known: Entries, change: Comparison, but: Owner | None = None, changes: Changes | None = None) -> Entries:
    """The entries of the others, less what was changed or removed under them; those without any field are gone."""
    result: Entries = {}
    for owner, entry in known.items():
        if entry.fields is not None and owner != but:
            seen = changes.seen_by(entry) if changes is not None else change
            if seen is None:
                continue
            left = fieldsets.difference(entry.fields, seen.changed)
            entry = entry.owning(fieldsets.difference(left, seen.removed))
        if not owners.is_empty(entry):
            result[owner] = entry
    return result


def expanded(known: Entries, document: Document, schema: Schema | None, owned: Filter = EVERYTHING) -> Entries:
    """The entries with the lazy one worked out: all fields of the document that no other entry has."""
    if all(entry.fields is not None for entry in known.values()):
        return known
    body = {key: value for key, value in document.items() if key != "metadata"}
    body["metadata"] = {key: value for key, value in document["metadata"].items() if key != "managedFields"}
    try:
        rest = owned(compare({}, body, shape_in(schema)).changed)
    except TypeFault:
        rest = {}
    rest = fieldsets.difference(rest, STRIPPED)
    for entry in known.values():
        if entry.fields is not None:
            rest = fieldsets.difference(rest, entry.fields)
    result = {owner: entry if entry.fields is not None else entry.owning(rest) for owner, entry in known.items()}
    return {owner: entry for owner, entry in result.items() if not owners.is_empty(entry)}


def _live_or_sent(old: Document, sent: Any, subresource: str) -> Entries:
    """The entries to start from: those the client sent, if they are valid, else the live ones."""
    live = (old.get("metadata") or {}).get("managedFields")
    if subresource:
        return _decoded(live)
    if owners.is_reset(sent):
        return {}
    return _decoded(sent) or _decoded(live)


def _decoded(managed: Any) -> Entries:
    try:
        return owners.decode(managed)
    except (ValueError, TypeError):
        return {}
