"""Field selectors: their syntax, the fields that a list or watch may select on, and how their values are read.

The syntax follows k8s.io/apimachinery/pkg/fields, SelectableFields the AddFieldLabelConversionFunc of a kind (v1.36.3).
A field that is accepted but never filled (`status.podIPs`) reads as empty.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict

import msgspec

from seatrial.model.label_selectors import SelectorError


@dataclass(frozen=True, slots=True)
class Reader:
    """How a field is read, and the places of a document that this looks at."""

    places: tuple[str, ...]
    read: Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """One field that must, or must not, have one value."""

    field: str
    value: str
    negated: bool = False

    def __str__(self) -> str:
        return f"{self.field}{'!=' if self.negated else '='}{escape_value(self.value)}"


@dataclass(frozen=True, slots=True)
class SelectableFields:
    """The fields of a kind that selectors may name, and how each is read."""

    readers: Mapping[str, Reader]
    spellings: Mapping[str, str] = field(default_factory=dict)
    """Other names of a field."""
    refusal: str = "field label not supported: {field}"

    @classmethod
    def of_custom_resource(cls, namespaced: bool, declared: Iterable[str]) -> "SelectableFields":
        """Name, namespace, and the JSON paths that a definition declares as selectable."""
        return cls(paths(*(NAMED if namespaced else NAMED[:1]), *(path.removeprefix(".") for path in declared)))

    def resolve(self, field: str) -> str:
        """The field under its own name, or upstream's refusal."""
        found = self.spellings.get(field, field)
        if found not in self.readers:
            raise SelectorError(self.refusal.format(field=field))
        return found


class FieldSelector:
    """Requirements that must all hold; without any it selects everything."""

    __slots__ = ("_decoder", "_readers", "requirements")

    def __init__(self, requirements: Iterable[FieldRequirement] = (), fields: SelectableFields | None = None) -> None:
        self.requirements = tuple(requirements)
        readers = fields.readers if fields is not None else {}
        self._readers = tuple(readers.get(each.field) or _path(each.field) for each in self.requirements)
        self._decoder = msgspec.json.Decoder(_only(place for reader in self._readers for place in reader.places))

    @classmethod
    def parse(cls, text: str, fields: SelectableFields | None = None) -> "FieldSelector":
        """Read `a=b,c!=d`; with `fields`, only these are allowed."""
        requirements = []
        for term in sorted(_split_terms(text)):
            if not term:
                continue
            field, operator, value = _split_term(term)
            if not operator:
                raise SelectorError(f"invalid selector: '{text}'; can't understand '{term}'")
            value = _unescape(value)
            field = fields.resolve(field) if fields is not None else field
            if field or value:
                requirements.append(FieldRequirement(field, value, operator == "!="))
        return cls(requirements, fields)

    def matches(self, document: Mapping[str, Any]) -> bool:
        return all(
            (reader.read(document) == requirement.value) != requirement.negated
            for requirement, reader in zip(self.requirements, self._readers, strict=True)
        )

    def matches_encoded(self, data: bytes) -> bool:
        """The same for encoded JSON, of which only the places that are looked at are decoded."""
        try:
            return self.matches(self._decoder.decode(data))
        except msgspec.ValidationError:
            # A parent of a field is not an object, as a custom resource may have it.
            return self.matches(msgspec.json.decode(data))

    @property
    def selects_everything(self) -> bool:
        return not self.requirements

    def required_value(self, field: str) -> str | None:
        """The one value that `field` must have, if the selector requires one."""
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


def _path(field: str) -> Reader:
    steps = tuple(field.lstrip(".").split("."))

    def read(document: Mapping[str, Any]) -> str:
        value: Any = document
        for step in steps:
            value = value.get(step) if isinstance(value, Mapping) else None
        if isinstance(value, bool):
            return "true" if value else "false"
        return "" if value is None or isinstance(value, Mapping | list) else str(value)

    return Reader((field.lstrip("."),), read)


def first_path(*fields: str) -> Reader:
    """The first of several places that holds a value."""
    readers = tuple(map(_path, fields))
    return Reader(fields, lambda document: next(filter(None, (reader.read(document) for reader in readers)), ""))


def path_or(field: str, absent: str) -> Reader:
    reader = _path(field)
    return Reader((field,), lambda document: reader.read(document) or absent)


def _first_pod_ip(document: Mapping[str, Any]) -> str:
    ips = (document.get("status") or {}).get("podIPs") or ()
    return str(ips[0].get("ip", "")) if ips else ""


POD_IP: Final = Reader(("status.podIPs",), _first_pod_ip)
EMPTY: Final = Reader((), lambda document: "")


def _only(places: Iterable[str]) -> Any:
    """A type that has just these places of a document."""
    below: dict[str, list[str]] = {}
    for place in places:
        step, _, rest = place.partition(".")
        below.setdefault(step, []).append(rest)
    fields = {step: Any if "" in rest else _only(rest) | None for step, rest in below.items()}
    return TypedDict("Places", fields, total=False)  # type: ignore[operator]


def paths(*fields: str) -> dict[str, Reader]:
    return {field: _path(field) for field in fields}


NAMED: Final = ("metadata.name", "metadata.namespace")
_INVOLVED: Final = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_EVENT_READERS: Final = {
    **{f"involvedObject.{part}": first_path(f"involvedObject.{part}", f"regarding.{part}") for part in _INVOLVED},
    "reportingComponent": first_path("reportingComponent", "reportingController"),
    "source": first_path("source.component", "deprecatedSource.component", "reportingComponent", "reportingController"),
    **paths("reason", "type", *NAMED),
}
EVENT_FIELDS: Final = SelectableFields(_EVENT_READERS)
EVENTS_K8S_IO_FIELDS: Final = SelectableFields(
    {
        **{f"regarding.{part}": _EVENT_READERS[f"involvedObject.{part}"] for part in _INVOLVED},
        "reportingController": _EVENT_READERS["reportingComponent"],
        **paths("reason", "type", *NAMED),
    }
)
"""events.k8s.io names the fields of an Event in its own way."""


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
