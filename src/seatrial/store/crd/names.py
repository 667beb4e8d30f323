"""The names of a definition: no two may serve the same plural, singular, short name, kind or list kind.

Upstream sets these conditions in controllers a moment after the write; here they are there at once.
Upstream: apiextensions-apiserver/pkg/controller/status/naming_controller.go.
"""

from collections.abc import Iterable

from seatrial.model.documents import Document
from seatrial.model.times import to_time
from seatrial.store.crd.approval import CONDITION, approval
from seatrial.store.crd.definition import Definition
from seatrial.store.object_meta import Faults, NameFaults, subdomain_faults


def definition_name_faults(document: Document) -> NameFaults:
    """The rule for the name of a definition: it follows from its plural and its group."""
    spec = document.get("spec") or {}
    wanted = f"{(spec.get('names') or {}).get('plural', '')}.{spec.get('group', '')}"

    def faults(name: str) -> Faults:
        return (*subdomain_faults(name), *(() if name == wanted else ('must be spec.names.plural+"."+spec.group',)))

    return faults


def accept(document: Document, old: Document | None, others: Iterable[Definition], now: int) -> None:
    """Set conditions, acceptedNames and storedVersions."""
    spec, name = document["spec"], document["metadata"]["name"]
    before = (old or {}).get("status") or {}
    written = document.get("status") or before if old is not None else before
    conflict = _conflict(spec, [other for other in others if other.name != name and other.established])
    accepted = not conflict
    was_established = _status_of(before, "Established") == "True"
    conditions = [
        _condition(before, "NamesAccepted", accepted, conflict or ("NoConflicts", "no conflicts found"), now),
        _condition(
            before,
            "Established",
            accepted or was_established,
            ("InitialNamesAccepted", "the initial names have been accepted")
            if accepted or was_established
            else ("NotAccepted", "not all names are accepted"),
            now,
        ),
    ]
    if (state := approval(document)) is not None:
        conditions.append(_condition(before, CONDITION, state[0] == "ApprovedAnnotation", state, now))
    names = spec["names"] if accepted else before.get("acceptedNames") or {"plural": "", "kind": ""}
    stored = list(written.get("storedVersions") or ())
    stored += [
        version["name"] for version in spec["versions"] if version.get("storage") and version["name"] not in stored
    ]
    extra = [
        condition
        for condition in written.get("conditions") or ()
        if condition.get("type") not in ("NamesAccepted", "Established", CONDITION)
    ]
    document["status"] = {"conditions": conditions + extra, "acceptedNames": names, "storedVersions": stored}


def _conflict(spec: Document, others: list[Definition]) -> tuple[str, str] | None:
    """The last of the names that is taken, with the reason: upstream overwrites the earlier ones."""
    names, found = spec["names"], None
    for kind in (other.storage.kind for other in others if other.group == spec["group"]):
        resources, kinds = {kind.plural, kind.singular, *kind.short_names}, {kind.kind, kind.list_kind}
        for reason, wanted, taken in (
            ("PluralConflict", names["plural"], resources),
            ("SingularConflict", names.get("singular", ""), resources),
            *(("ShortNamesConflict", short, resources) for short in names.get("shortNames") or ()),
            ("KindConflict", names["kind"], kinds),
            ("ListKindConflict", names.get("listKind", ""), kinds),
        ):
            if wanted in taken:
                found = reason, f'"{wanted}" is already in use'
    return found


def _condition(before: Document, type_: str, holds: bool, why: tuple[str, str], now: int) -> Document:
    status = "True" if holds else "False"
    moved = to_time(now)
    for condition in before.get("conditions") or ():
        if condition.get("type") == type_ and condition.get("status") == status:
            moved = condition.get("lastTransitionTime") or moved
    return {"type": type_, "status": status, "lastTransitionTime": moved, "reason": why[0], "message": why[1]}


def _status_of(status: Document, type_: str) -> str:
    found = [condition for condition in status.get("conditions") or () if condition.get("type") == type_]
    return str(found[0].get("status", "")) if found else ""
