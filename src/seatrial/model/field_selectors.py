"""Field selectors: which fields of a kind a list or watch may select on, and how their values are read.

The syntax follows k8s.io/apimachinery/pkg/fields, the fields of each kind its AddFieldLabelConversionFunc and the
registry's selectable fields (v1.36.3). A field that is accepted but never filled (`status.podIPs`) reads as empty.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import SelectorError

Reader = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """One field that must, or must not, have one value."""

    field: str
    value: str
    negated: bool = False

    def __str__(self) -> str:
        return f"{self.field}{'!=' if self.negated else '='}{escape_value(self.value)}"


class FieldSelector:
    """Requirements that must all hold; without any it selects everything."""

    __slots__ = ("_readers", "requirements")

    def __init__(self, requirements: Iterable[FieldRequirement] = (), kind: Kind | None = None) -> None:
        self.requirements = tuple(requirements)
        special = _fields_of(kind)
        self._readers = tuple(
            special.get(requirement.field) or _path(requirement.field) for requirement in self.requirements
        )

    @classmethod
    def parse(cls, text: str, kind: Kind | None = None, selectable: Iterable[str] = ()) -> "FieldSelector":
        """Read `a=b,c!=d`; with a kind, only its fields (and a custom kind's `selectable` ones) are allowed."""
        requirements = []
        for term in sorted(_split_terms(text)):
            if not term:
                continue
            field, operator, value = _split_term(term)
            if not operator:
                raise SelectorError(f"invalid selector: '{text}'; can't understand '{term}'")
            field, value = _convert(kind, field, _unescape(value), frozenset(selectable))
            if field or value:
                requirements.append(FieldRequirement(field, value, operator == "!="))
        return cls(requirements, kind)

    def matches(self, document: Mapping[str, Any]) -> bool:
        return all(
            (reader(document) == requirement.value) != requirement.negated
            for requirement, reader in zip(self.requirements, self._readers, strict=True)
        )

    @property
    def selects_everything(self) -> bool:
        return not self.requirements

    def required_value(self, field: str) -> str | None:
        """The one value that `field` must have, if the selector says so."""
        for requirement in self.requirements:
            if requirement.field == field and not requirement.negated:
                return requirement.value
        return None

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))

    def __repr__(self) -> str:
        return f"FieldSelector({str(self)!r})"


def escape_value(value: str) -> str:
    """A literal value as a field selector spells it."""
    return value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")


def selectable_fields(kind: Kind) -> tuple[str, ...]:
    """The fields that a selector on this kind may name."""
    return tuple(_fields_of(kind)) or ("metadata.name", "metadata.namespace")


def _path(field: str) -> Reader:
    steps = tuple(field.lstrip(".").split("."))

    def read(document: Mapping[str, Any]) -> str:
        value: Any = document
        for step in steps:
            value = value.get(step) if isinstance(value, Mapping) else None
        if isinstance(value, bool):
            return "true" if value else "false"
        return "" if value is None or isinstance(value, Mapping | list) else str(value)

    return read


def _first(*fields: str) -> Reader:
    """The first of several places that holds a value."""
    readers = tuple(map(_path, fields))
    return lambda document: next(filter(None, (reader(document) for reader in readers)), "")


def _or(field: str, absent: str) -> Reader:
    reader = _path(field)
    return lambda document: reader(document) or absent


def _pod_ip(document: Mapping[str, Any]) -> str:
    ips = (document.get("status") or {}).get("podIPs") or ()
    return str(ips[0].get("ip", "")) if ips else ""


def _empty(_: Mapping[str, Any]) -> str:
    return ""


def _plain(*fields: str) -> dict[str, Reader]:
    return {field: _path(field) for field in fields}


_NAMED: Final = ("metadata.name", "metadata.namespace")
_INVOLVED: Final = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_EVENT: Final = {
    **{f"involvedObject.{part}": _first(f"involvedObject.{part}", f"regarding.{part}") for part in _INVOLVED},
    "reportingComponent": _first("reportingComponent", "reportingController"),
    "source": _first("source.component", "deprecatedSource.component", "reportingComponent", "reportingController"),
    **_plain("reason", "type", *_NAMED),
}
_FIELDS: Final[dict[tuple[str, str], dict[str, Reader]]] = {
    ("", "Pod"): {
        **_plain(*_NAMED, "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName"),
        "spec.hostNetwork": _or("spec.hostNetwork", "false"),
        **_plain("status.phase", "status.nominatedNodeName"),
        "status.podIP": _pod_ip,
        "status.podIPs": _empty,
    },
    ("", "Node"): {**_plain("metadata.name"), "spec.unschedulable": _or("spec.unschedulable", "false")},
    ("", "ReplicationController"): {**_plain(*_NAMED), "status.replicas": _or("status.replicas", "0")},
    ("", "Event"): _EVENT,
    ("events.k8s.io", "Event"): _EVENT,
    ("", "Namespace"): _plain("metadata.name", "status.phase"),
    ("", "Secret"): _plain(*_NAMED, "type"),
    ("", "Service"): _plain(*_NAMED, "spec.clusterIP", "spec.type"),
    ("batch", "Job"): {**_plain(*_NAMED), "status.successful": _or("status.succeeded", "0")},
    ("certificates.k8s.io", "CertificateSigningRequest"): _plain("metadata.name", "spec.signerName"),
    ("certificates.k8s.io", "ClusterTrustBundle"): _plain("metadata.name", "spec.signerName"),
    ("certificates.k8s.io", "PodCertificateRequest"): _plain(
        "metadata.name", "spec.signerName", "spec.podName", "spec.nodeName"
    ),
    ("resource.k8s.io", "ResourceSlice"): _plain("metadata.name", "spec.nodeName", "spec.driver"),
}
# events.k8s.io spells the fields of its Event in its own way.
_EVENT_SPELLINGS: Final = {
    **{f"regarding.{part}": f"involvedObject.{part}" for part in _INVOLVED},
    "reportingController": "reportingComponent",
    **{same: same for same in ("reason", "type", *_NAMED)},
}


def _fields_of(kind: Kind | None) -> dict[str, Reader]:
    return _FIELDS.get(kind.group_kind, {}) if kind is not None else {}


def _convert(kind: Kind | None, field: str, value: str, selectable: frozenset[str]) -> tuple[str, str]:
    """The field as our documents have it, or upstream's refusal."""
    if kind is None:
        return field, value
    if kind.custom:
        named = _NAMED if kind.namespaced else _NAMED[:1]
        if field in named or field in selectable or f".{field}" in selectable:
            return field, value
        raise SelectorError(f"field label not supported: {field}")
    known = _fields_of(kind)
    if not known:
        if field in _NAMED:
            return field, value
        raise SelectorError(f'"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"')
    if kind.group_kind == ("", "Pod") and field == "spec.host":
        return "spec.nodeName", value
    if kind.group_kind == ("events.k8s.io", "Event"):
        field_here = _EVENT_SPELLINGS.get(field, "")
    else:
        field_here = field if field in known else ""
    if field_here:
        return field_here, value
    if kind.group_kind == ("batch", "Job"):
        raise SelectorError(f'field label "{field}" not supported for Job')
    if kind.kind == "ResourceSlice":
        raise SelectorError(f"field label not supported for {kind.group}/{kind.version}, Kind={kind.kind}: {field}")
    raise SelectorError(f"field label not supported: {field}")


def _split_terms(text: str) -> list[str]:
    terms, start, escaped = [], 0, False
    for position, letter in enumerate(text):
        if escaped:
            escaped = False
        elif letter == "\\":
            escaped = True
        elif letter == ",":
            terms.append(text[start:position])
            start = position + 1
    return [*terms, text[start:]]


def _split_term(term: str) -> tuple[str, str, str]:
    for position in range(len(term)):
        for operator in ("!=", "==", "="):
            if term.startswith(operator, position):
                return term[:position], operator, term[position + len(operator) :]
    return term, "", ""


def _unescape(value: str) -> str:
    letters, escaped = [], False
    for letter in value:
        if escaped:
            if letter not in "\\,=":
                raise SelectorError(f"invalid field selector: invalid escape sequence: \\{letter}")
            letters.append(letter)
            escaped = False
        elif letter == "\\":
            escaped = True
        elif letter in ",=":
            raise SelectorError(f"invalid field selector: unescaped character in value: {ord(letter)}")
        else:
            letters.append(letter)
    if escaped:
        raise SelectorError("invalid field selector: invalid escape sequence: \\")
    return "".join(letters)
