"""metadata.managedFields: the owner of each field, by manager, operation, version and subresource.

Follows k8s.io/apimachinery/pkg/util/managedfields/internal. An entry without `fieldsV1` is the lazy form of earlier
versions: its manager owns every field of the object that no other entry owns (see the package's docstring).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from seatrial.model.apply import fieldsets
from seatrial.model.apply.fieldsets import FieldSet
from seatrial.model.documents import Document
from seatrial.model.times import parse_time

APPLY: Final = "Apply"
UPDATE: Final = "Update"
MOST_UPDATERS: Final = 10
ANCIENT: Final = "ancient-changes"


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a change; an apply has one entry for all versions."""

    manager: str
    operation: str
    api_version: str
    subresource: str = ""

    def text(self) -> str:
        """The owner as conflicts name it."""
        name = orjson.dumps(self.manager).decode()
        if self.subresource:
            name += f" with subresource {orjson.dumps(self.subresource).decode()}"
        return f"{name} using {self.api_version}" if self.operation == UPDATE else name

    def sort_key(self) -> str:
        parts = {"manager": self.manager, "operation": self.operation}
        if self.operation == UPDATE:
            parts["apiVersion"] = self.api_version
        if self.subresource:
            parts["subresource"] = self.subresource
        return orjson.dumps(parts).decode()


@dataclass(frozen=True, slots=True)
class Entry:
    """The fields of one owner; None means every field that no other entry owns."""

    owner: Owner
    fields: FieldSet | None
    time: str = ""
    api_version: str = ""

    def owning(self, fields: FieldSet) -> "Entry":
        return replace(self, fields=fields)


Entries = dict[Owner, Entry]


def decode(managed: Any) -> Entries:
    """Entries of metadata.managedFields; ValueError where they are malformed."""
    entries: Entries = {}
    for position, item in enumerate(managed or ()):
        if not isinstance(item, dict) or item.get("operation") not in (APPLY, UPDATE):
            raise ValueError("operation must be `Apply` or `Update`")
        version = item.get("apiVersion")
        if not isinstance(version, str) or not version:
            raise ValueError("apiVersion must not be empty")
        if item.get("fieldsType") != "FieldsV1":
            raise ValueError(f"missing fieldsType in managed fields entry {position}")
        owner = owner_of(item)
        fields = fieldsets.normalised(item["fieldsV1"]) if item.get("fieldsV1") is not None else None
        entries[owner] = Entry(owner, fields, str(item.get("time") or ""), version)
    return entries


def owner_of(item: Document) -> Owner:
    operation = item["operation"]
    version = "" if operation == APPLY else item["apiVersion"]
    return Owner(str(item.get("manager", "")), operation, version, str(item.get("subresource") or ""))


def encode(entries: Iterable[Entry]) -> list[Document]:
    """Entries as metadata.managedFields holds them, in upstream's order."""
    ordered = sorted(
        entries,
        key=lambda entry: (
            entry.owner.operation,
            _seconds(entry.time),
            entry.owner.manager,
            entry.api_version,
            entry.owner.subresource,
        ),
    )
    return [_encoded(entry) for entry in ordered]


def _encoded(entry: Entry) -> Document:
    document: Document = {"manager": entry.owner.manager, "operation": entry.owner.operation}
    document["apiVersion"] = entry.api_version
    if entry.time:
        document["time"] = entry.time
    document["fieldsType"] = "FieldsV1"
    if entry.fields is not None:
        document["fieldsV1"] = fieldsets.in_order(entry.fields)
    if entry.owner.subresource:
        document["subresource"] = entry.owner.subresource
    return document


def is_reset(managed: Any) -> bool:
    """Whether a client resets all owners: an empty list, or one with a single empty entry."""
    return isinstance(managed, list) and (not managed or managed == [{}])


def is_empty(entry: Entry) -> bool:
    return entry.fields is not None and not entry.fields


def capped(entries: Entries) -> Entries:
    """Merge the oldest updaters of a version into one where there are too many."""
    updaters = [entry for entry in entries.values() if entry.owner.operation == UPDATE and entry.fields is not None]
    if len(updaters) <= MOST_UPDATERS:
        return entries
    updaters.sort(key=lambda entry: (_seconds(entry.time), entry.owner.sort_key()))
    kept, surplus = dict(entries), len(updaters) - MOST_UPDATERS
    first: dict[str, Owner] = {}
    for entry in updaters:
        if not surplus:
            break
        version = entry.api_version
        if version not in first:
            first[version] = entry.owner
            continue
        bucket = Owner(ANCIENT, UPDATE, version)
        if bucket not in kept:
            kept[bucket] = replace(kept.pop(first[version]), owner=bucket)
        merged = fieldsets.union(entry.fields or {}, kept[bucket].fields or {})
        kept.pop(entry.owner, None)
        kept[bucket] = Entry(bucket, merged, entry.time, version)
        surplus -= 1
    return kept


def _seconds(time: str) -> int:
    try:
        return parse_time(time) // 1_000_000 if time else 0
    except ValueError:
        return 0
