"""`--set`: the same load with other values of queues and jobs, such as `queue/research.weight=4`."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Final, Self

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError
from seatrial.model.quantity import Quantity, QuantityError
from seatrial.vcsim.workload import Workload
from seatrial.volcano.apis import DEFAULT_QUEUE, JOB, POD_GROUP, QUEUE

OPTION: Final = "--set"
NAMED: Final = 10
"""Names that an error gives."""
_FORM: Final = re.compile(r"(\w+)/([^.=]+)\.(\w+)(?:\.([^=]+))?=(.+)")
_EXPECTED: Final = "expected KIND/NAME.FIELD=VALUE, for example queue/research.weight=4 or job/train.minAvailable=2"
_KINDS: Final = {"queue": QUEUE, "job": JOB, "podgroup": POD_GROUP}


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"expected a whole number, got {text!r}")
    return int(text)


def _truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"expected true or false, got {text!r}")
    return text == "true"


def _amount(text: str) -> str:
    try:
        Quantity.parse(text)
    except QuantityError as error:
        raise ValueError(f"{text!r}: {error}") from error
    return text


_AMOUNTS: Final = {"capability": ("capability",), "deserved": ("deserved",), "guarantee": ("guarantee", "resource")}
"""Where the amounts of resources are that a queue has."""
_FIELDS: Final[dict[str, dict[str, Callable[[str], Any]]]] = {
    "queue": {"weight": _whole, "priority": _whole, "reclaimable": _truth, **dict.fromkeys(_AMOUNTS, _amount)},
    "job": {"minAvailable": _whole, "queue": str, "priorityClassName": str},
    "podgroup": {"minMember": _whole, "queue": str, "priorityClassName": str},
}


@dataclass(frozen=True, slots=True)
class Setting:
    """Another value of one field of the queues or jobs of a name."""

    text: str
    kind: str
    name: str
    path: tuple[str, ...]
    value: Any

    @classmethod
    def parse(cls, text: str) -> Self:
        """ConfigError where the text is none, or the value does not go with the field."""
        found = _FORM.fullmatch(text)
        if found is None:
            raise ConfigError("", OPTION, f"{_EXPECTED}; got {text!r}")
        kind, name, field, resource, value = found.groups()
        if kind not in _FIELDS:
            raise ConfigError("", OPTION, f"{text}: expected one of {', '.join(_FIELDS)}, got {kind!r}")
        if field not in _FIELDS[kind]:
            raise ConfigError("", OPTION, f"{text}: a {kind} has {', '.join(_FIELDS[kind])}, got {field!r}")
        if (field in _AMOUNTS) != (resource is not None):
            raise ConfigError("", OPTION, f"{text}: expected {field}{'.RESOURCE' if field in _AMOUNTS else ''}=VALUE")
        try:
            read = _FIELDS[kind][field](value)
        except ValueError as error:
            raise ConfigError("", OPTION, f"{text}: {error}") from error
        path = (*_AMOUNTS[field], resource) if field in _AMOUNTS else (field,)
        return cls(text, kind, name, path, read)

    def fits(self, document: Document) -> bool:
        """Whether the setting is meant for an object: by its name, or by that of the object it is a copy of."""
        if (document["apiVersion"], document["kind"]) != _KINDS[self.kind]:
            return False
        name = document["metadata"].get("name", "")
        copied = name.rpartition("-")[0] if self.kind != "queue" else name
        return fnmatchcase(name, self.name) or fnmatchcase(copied, self.name)

    def applied(self, document: Document) -> Document:
        """A copy of an object with the value."""
        spec = copy = dict(document.get("spec") or {})
        for key in self.path[:-1]:
            spec[key] = spec = dict(spec.get(key) or {})
        spec[self.path[-1]] = self.value
        return {**document, "spec": copy}


def with_settings(workload: Workload, texts: Sequence[str]) -> Workload:
    """The workload with other values; ConfigError where a setting is meant for nothing in it."""
    prepared, arrivals = list(workload.prepared), list(workload.arrivals)
    for setting in map(Setting.parse, texts):
        if setting.kind == "queue" and setting.name == DEFAULT_QUEUE and not any(map(setting.fits, prepared)):
            prepared.append({"apiVersion": QUEUE[0], "kind": QUEUE[1], "metadata": {"name": DEFAULT_QUEUE}})
        _refuse_unmeant(setting, [*prepared, *(arrival.document for arrival in arrivals)])
        prepared = [setting.applied(each) if setting.fits(each) else each for each in prepared]
        arrivals = [
            replace(each, document=setting.applied(each.document)) if setting.fits(each.document) else each
            for each in arrivals
        ]
    return replace(workload, prepared=prepared, arrivals=arrivals)


def _refuse_unmeant(setting: Setting, documents: Sequence[Document]) -> None:
    if not any(map(setting.fits, documents)):
        own = [each for each in documents if (each["apiVersion"], each["kind"]) == _KINDS[setting.kind]]
        known = ", ".join(sorted({each["metadata"].get("name", "") for each in own})[:NAMED]) or "none"
        raise ConfigError("", OPTION, f"{setting.text}: the load has no such {setting.kind}; there are: {known}")
