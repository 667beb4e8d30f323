"""Server-side apply: a manager sends the fields it wants to set, and owns exactly these.

Follows merge/update.go (Apply, prune) of structured-merge-diff v6 and apimachinery's managedfields: fields that the
manager applied last time and no longer does are removed unless another owns them; fields of others are a conflict
unless it forces; an object that was made by client-side apply is taken over without one.
"""

from typing import Any

from seatrial.model.apply import entries as owners
from seatrial.model.apply import fieldsets
from seatrial.model.apply.comparing import Filter, compare
from seatrial.model.apply.entries import APPLY, Entries, Entry, Owner
from seatrial.model.apply.fieldsets import FieldSet, Path
from seatrial.model.apply.merging import merge
from seatrial.model.apply.shapes import Shape
from seatrial.model.apply.typed import TypeFault, field_set, remove_items, validate, with_named_fields
from seatrial.model.apply.updating import EVERYTHING, STRIPPED, expanded, taken, updated
from seatrial.model.apply.versions import Changes, InVersion, shape_in
from seatrial.model.documents import Document, decode, encode
from seatrial.model.errors import BadRequest, Cause, Conflict
from seatrial.model.patches.refusals import bounded
from seatrial.model.schema import Schema
from seatrial.model.times import to_time

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_KUBECTL = "kubectl"


class ApplyConflict(Conflict):
    """Fields that others own: 409 with one cause for each."""

    def __init__(self, conflicts: list[tuple[Owner, Path]]) -> None:
        causes = [
            Cause(fieldsets.path_text(path), f"conflict with {owner.text()}", "FieldManagerConflict")
            for owner, path in conflicts
        ]
        super().__init__(_message(conflicts), causes=causes)
        self.conflicts = conflicts


@bounded
def apply(
    live: Document | None,
    config: Document,
    *,
    manager: str,
    api_version: str,
    now: int,
    schema: Schema | None,
    force: bool = False,
    subresource: str = "",
    owned: Filter = EVERYTHING,
    convert: InVersion | None = None,
) -> Document:
    """The object after an apply, its managedFields included; `live` None creates it.

    The caller has checked apiVersion, kind and name, and defaults and validates what it gets.
    """
    if not isinstance(config, dict) or not isinstance(config.get("metadata", {}), dict):
        raise BadRequest("error decoding YAML: an applied configuration is an object with metadata")
    if (config.get("metadata") or {}).get("managedFields") is not None:
        raise BadRequest("metadata.managedFields must be nil")
    application = _Application(live, config, schema, owned, Owner(manager, APPLY, "", subresource), api_version, now)
    application.convert = convert
    try:
        result = application.carried_out(force)
    except TypeFault as fault:
        raise BadRequest(f"failed to merge config: {fault}") from None
    except ApplyConflict as error:
        if manager != _KUBECTL:
            raise
        left = application.conflicts_beyond_last_applied(error)
        if left:
            raise ApplyConflict(left) from None
        result = application.carried_out(force=True)
    if manager == _KUBECTL:
        _update_last_applied(result, config)
    return result


class _Application:
    """One apply request: the live object, the applied configuration, and its manager."""

    def __init__(
        self,
        live: Document | None,
        config: Document,
        schema: Schema | None,
        owned: Filter,
        owner: Owner,
        api_version: str,
        now: int,
    ) -> None:
        self.shape: Shape = shape_in(schema)
        self.convert: InVersion | None = None
        self.owned, self.owner, self.api_version, self.time = owned, owner, api_version, to_time(now)
        self.config = config
        self.live, managed = _without_managed_fields(live or {})
        self.config_fields = self._checked(config, "patch")
        self.known = self._entries(managed, live, schema)

    def carried_out(self, force: bool) -> Document:
        """Merge, prune, and compute the owners."""
        merged = merge(self.live, self.config, self.shape)
        known = dict(self.known)
        last = known.get(self.owner)
        known[self.owner] = Entry(
            self.owner, self.owned(self.config_fields), last.time if last else "", self.api_version
        )
        new = self._pruned(merged, known, last)
        change = compare(self.live, new, self.shape, spelled_out=True).restricted(self.owned)
        changes = Changes(self.api_version, change, self.live, new, self.owned, self.convert)
        if not force:
            self._refuse_conflicts(known, changes)
        settled = taken(known, change, self.owner, changes)
        mine = settled.pop(self.owner, None)
        if mine is not None:
            fields = fieldsets.difference(mine.fields or {}, STRIPPED)
            if fields:
                time = self.time if new != self.live else mine.time
                settled[self.owner] = Entry(self.owner, fields, time, self.api_version)
        result: Document = _without_nulls(new)
        if settled:
            result["metadata"] = {**result.get("metadata", {}), "managedFields": owners.encode(settled.values())}
        return result

    def conflicts_beyond_last_applied(self, error: ApplyConflict) -> list[tuple[Owner, Path]]:
        """The conflicts that client-side apply's record of this object does not explain away."""
        text = ((self.live.get("metadata") or {}).get("annotations") or {}).get(LAST_APPLIED)
        try:
            last = decode(text) if text else None
            if not isinstance(last, dict) or last.get("apiVersion") != self.api_version:
                return error.conflicts
            validate(last, self.shape)
            allowed = field_set(last, self.shape)
            change = compare(last, self.live, self.shape)
        except (ValueError, TypeFault):
            return error.conflicts
        for gone in (change.modified, change.added, change.removed):
            allowed = fieldsets.difference(allowed, gone)
        return [(owner, path) for owner, path in error.conflicts if not fieldsets.contains(allowed, path)]

    def _checked(self, config: Document, what: str) -> FieldSet:
        try:
            validate(config, self.shape)
            return field_set(config, self.shape)
        except TypeFault as fault:
            metadata = config.get("metadata") or {}
            place = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
            group, _, version = str(config.get("apiVersion", "")).rpartition("/")
            kind = f"{group}/{version}, Kind={config.get('kind', '')}"
            raise BadRequest(f"failed to create typed {what} object ({place}; {kind}): {fault}") from None

    def _entries(self, managed: Any, live: Document | None, schema: Schema | None) -> Entries:
        """The live entries; an object without entries belongs to `before-first-apply`."""
        try:
            known = owners.decode(managed)
        except (ValueError, TypeError) as error:
            raise BadRequest(f"failed to decode managed fields: {error}") from None
        if live is None:
            return known
        if known:
            return expanded(known, {**self.live, "metadata": self.live.get("metadata", {})}, schema, self.owned)
        before = Owner("before-first-apply", owners.UPDATE, self.api_version, self.owner.subresource)
        try:
            return updated({}, before, compare({}, self.live, self.shape).restricted(self.owned), self.time)
        except TypeFault as fault:
            raise BadRequest(f"failed to create manager for existing fields: {fault}") from None

    def _pruned(self, merged: Any, known: Entries, last: Entry | None) -> Any:
        """The merged object without the fields that this manager applied before and that no manager applies now."""
        if last is None or not last.fields:
            return merged
        if self.convert is None or last.api_version == self.api_version:
            return _without_unowned(merged, known, last.fields, self.shape)
        found = self.convert(last.api_version, [merged])
        if found is None:
            return merged
        theirs = {owner: entry for owner, entry in known.items() if entry.api_version == last.api_version}
        pruned = _without_unowned(found[0][0], theirs, last.fields, shape_in(found[1]))
        back = self.convert(self.api_version, [pruned])
        return back[0][0] if back is not None else merged

    def _refuse_conflicts(self, known: Entries, changes: Changes) -> None:
        conflicts = [
            (owner, path)
            for owner in sorted(known, key=Owner.sort_key)
            if owner != self.owner and (seen := changes.seen_by(known[owner])) is not None
            for path in fieldsets.paths(fieldsets.intersection(known[owner].fields or {}, seen.changed))
        ]
        if conflicts:
            raise ApplyConflict(conflicts)


def _without_unowned(merged: Any, known: Entries, last: FieldSet, shape: Shape) -> Any:
    """An object without those fields of `last` that no entry has."""

    def named(value: Any) -> FieldSet:
        return with_named_fields(field_set(value, shape), shape)

    before = with_named_fields(last, shape)
    pruned = remove_items(merged, before, shape)
    everything = named(merged)
    managed: FieldSet = {}
    for entry in known.values():
        managed = fieldsets.union(managed, entry.fields or {})
    kept = fieldsets.union(named(pruned), with_named_fields(managed, shape))
    pruned = remove_items(merged, fieldsets.difference(everything, kept), shape)
    gone = fieldsets.difference(everything, named(pruned))
    return remove_items(merged, fieldsets.intersection(gone, before), shape)


def _message(conflicts: list[tuple[Owner, Path]]) -> str:
    if len(conflicts) == 1:
        owner, path = conflicts[0]
        return f"Apply failed with 1 conflict: conflict with {owner.text()}: {fieldsets.path_text(path)}"
    lines = []
    for owner in dict.fromkeys(owner for owner, _ in conflicts):
        lines.append(f"conflicts with {owner.text()}:")
        lines += [f"- {fieldsets.path_text(path)}" for other, path in conflicts if other == owner]
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)


def _update_last_applied(document: Document, config: Document) -> None:
    """Keep client-side apply's annotation true, where the object has one."""
    annotations = (document.get("metadata") or {}).get("annotations")
    if not isinstance(annotations, dict) or not annotations.get(LAST_APPLIED):
        return
    said = {**config, "metadata": dict(config.get("metadata") or {})}
    if isinstance(said["metadata"].get("annotations"), dict):
        said["metadata"]["annotations"] = {
            key: value for key, value in said["metadata"]["annotations"].items() if key != LAST_APPLIED
        }
    document["metadata"]["annotations"] = {**annotations, LAST_APPLIED: encode(_sorted(said)).decode() + "\n"}


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _without_managed_fields(document: Document) -> tuple[Document, Any]:
    metadata = document.get("metadata")
    if not metadata or "managedFields" not in metadata:
        return document, None
    rest = {key: value for key, value in metadata.items() if key != "managedFields"}
    return {**document, "metadata": rest}, metadata["managedFields"]


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value
