"""The rules for metadata that hold for every kind: names, labels, annotations, owners, finalizers.

Upstream: k8s.io/apimachinery/pkg/api/validation/objectmeta.go and pkg/util/validation/validation.go; which kind has
which names is said in the validation of each.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import label_key_faults, label_value_faults
from seatrial.store.field_errors import Struct, forbidden, invalid, required, too_long

MOST_ANNOTATION_BYTES = 256 * 1024
IMMUTABLE = "field is immutable"
LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"{LABEL}(\.{LABEL})*"
LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_LABEL, _SUBDOMAIN, _LABEL_1035 = re.compile(LABEL), re.compile(SUBDOMAIN), re.compile(LABEL_1035)
_SUBDOMAIN_WRONG = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    f"and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{SUBDOMAIN}')"
)
_LABEL_WRONG = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    f"with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{LABEL}')"
)
_LABEL_1035_WRONG = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    f"and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    f"'{LABEL_1035}')"
)
Faults = tuple[str, ...]
NameFaults = Callable[[str], Faults]


def metadata_causes(kind: Kind, metadata: Document, name_faults: NameFaults | None = None) -> list[Cause]:
    """Validation errors of the metadata of an object; `name_faults` is the rule for names of its kind."""
    found: list[Cause] = []
    faults = name_faults or subdomain_faults
    if prefix := metadata.get("generateName"):
        masked = f"{prefix[:-1]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        found += [invalid("metadata.generateName", prefix, fault) for fault in faults(masked)]
    name = metadata.get("name", "")
    if not name:
        found.append(required("metadata.name", "name or generateName is required"))
    else:
        found += [invalid("metadata.name", name, fault) for fault in faults(name)]
    if kind.namespaced:
        namespace = metadata.get("namespace", "")
        found += [invalid("metadata.namespace", namespace, fault) for fault in label_faults(namespace)]
    if labels := metadata.get("labels"):
        found += label_causes(labels, "metadata.labels")
    if annotations := metadata.get("annotations"):
        found += annotation_causes(annotations)
    if owners := metadata.get("ownerReferences"):
        found += _owner_causes(owners)
    if finalizers := metadata.get("finalizers"):
        found += _finalizer_causes(finalizers)
        if not kind.custom and kind.group not in _PLAIN_FINALIZERS:
            found += _standard_finalizers(finalizers)
    return found


def metadata_update_causes(metadata: Document, old: Document) -> list[Cause]:
    """Validation errors of an update of the metadata of an object."""
    found: list[Cause] = []
    if "deletionTimestamp" in old:
        new = sorted(set(metadata.get("finalizers") or ()) - set(old.get("finalizers") or ()))
        if new:
            listed = ", ".join(f'"{finalizer}"' for finalizer in new)
            why = "no new finalizers can be added if the object is being deleted, found new finalizers "
            found.append(forbidden("metadata.finalizers", f"{why}[]string{{{listed}}}"))
    fixed = ("name", "namespace", "uid", "creationTimestamp")
    changed = [key for key in fixed if metadata.get(key) != old.get(key)]
    return found + [invalid(f"metadata.{key}", metadata.get(key), IMMUTABLE) for key in changed]


def label_causes(labels: dict[str, str], path: str) -> Iterator[Cause]:
    """Validation errors of a map of labels."""
    for key, value in labels.items():
        for fault in label_key_faults(key):
            yield invalid(path, key, fault)
        for fault in label_value_faults(value):
            yield invalid(path, value, fault)


def is_subdomain(name: str) -> bool:
    """Whether a name is a DNS subdomain."""
    return len(name) <= 253 and _SUBDOMAIN.fullmatch(name) is not None


@lru_cache(8192)
def subdomain_faults(name: str) -> Faults:
    """Errors for a name that is no DNS subdomain; none when it is one."""
    return _faults(name, 253, _SUBDOMAIN, _SUBDOMAIN_WRONG)


@lru_cache(8192)
def label_faults(name: str) -> Faults:
    """Errors for a name that is no DNS label; none when it is one."""
    if len(name) <= 63 and not _LABEL.fullmatch(name) and _SUBDOMAIN.fullmatch(name):
        return ("must not contain dots",)
    return _faults(name, 63, _LABEL, _LABEL_WRONG)


def label_1035_faults(name: str) -> Faults:
    """Errors for a name that is no label that begins with a letter; none when it is one."""
    return _faults(name, 63, _LABEL_1035, _LABEL_1035_WRONG)


def segment_faults(name: str) -> Faults:
    """Errors for a name that cannot be part of a path; none when it can."""
    if name in (".", ".."):
        return (f"may not be '{name}'",)
    if "/" not in name and "%" not in name:
        return ()
    return tuple(f"may not contain '{part}'" for part in ("/", "%") if part in name)


def _faults(name: str, most: int, pattern: re.Pattern[str], wrong: str) -> Faults:
    too_long_text = (f"must be no more than {most} characters",) if len(name.encode()) > most else ()
    return (*too_long_text, *(() if pattern.fullmatch(name) else (wrong,)))


def annotation_causes(annotations: dict[str, str]) -> Iterator[Cause]:
    """Validation errors of a map of annotations."""
    for key in annotations:
        for fault in label_key_faults(key.lower()):
            yield invalid("metadata.annotations", key, fault)
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > MOST_ANNOTATION_BYTES:
        yield too_long("metadata.annotations", MOST_ANNOTATION_BYTES)


def _owner_causes(owners: list[Document]) -> Iterator[Cause]:
    path, controller = "metadata.ownerReferences", ""
    for owner in owners:
        version = (owner.get("apiVersion") or "").rpartition("/")[2]
        if not version:
            yield invalid(f"{path}.apiVersion", owner.get("apiVersion", ""), "version must not be empty")
        for key in ("kind", "name", "uid"):
            if not owner.get(key):
                yield invalid(f"{path}.{key}", owner.get(key, ""), "must not be empty")
        if (owner.get("apiVersion"), owner.get("kind")) == ("v1", "Event"):
            yield invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner")
        if owner.get("controller"):
            this = f"{owner.get('kind')}/{owner.get('name')}"
            if controller:
                why = 'Only one reference can have Controller set to true. Found "true" in references for '
                shown = [Struct({key: owner[key] for key in _OWNER if key in owner}) for owner in owners]
                yield invalid(path, shown, f"{why}{controller} and {this}")
            controller = controller or this


def _finalizer_causes(finalizers: list[str]) -> Iterator[Cause]:
    for finalizer in finalizers:
        for fault in label_key_faults(finalizer):
            yield invalid("metadata.finalizers", finalizer, fault)
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        why = "finalizer orphan and foregroundDeletion cannot be both set"
        yield invalid("metadata.finalizers", finalizers, why)


def _standard_finalizers(finalizers: list[str]) -> Iterator[Cause]:
    for index, finalizer in enumerate(finalizers):
        if "/" not in finalizer and finalizer not in _FINALIZERS:
            why = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid(f"metadata.finalizers[{index}]", finalizer, why)


_OWNER = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
_PLAIN_FINALIZERS = ("admissionregistration.k8s.io", "apiextensions.k8s.io", "coordination.k8s.io")
