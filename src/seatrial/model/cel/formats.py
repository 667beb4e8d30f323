"""The `format` library of Kubernetes' CEL: named formats that text is checked against.

Follows k8s.io/apiserver/pkg/cel/library/format.go and the messages of apimachinery's validation.
"""

import base64
import binascii
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from seatrial.model.cel.errors import CelError
from seatrial.model.cel.functions import function
from seatrial.model.cel.times import timestamp_of
from seatrial.model.cel.values import NONE, Opaque, Optional

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035 = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_NAME_PART = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = rf"({_NAME_PART})?"

LABEL_WRONG = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    f"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
SUBDOMAIN_WRONG = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
LABEL_1035_WRONG = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    f"'{_LABEL_1035}')"
)
VALUE_WRONG = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
NAME_WRONG = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)

Check = Callable[[str], list[str]]


def _pattern(expression: str, longest: int, wrong: str) -> Check:
    compiled = re.compile(expression, re.ASCII)

    def check(text: str) -> list[str]:
        found = [f"must be no more than {longest} characters"] if len(text) > longest else []
        return found if compiled.fullmatch(text) else [*found, wrong]

    return check


def _prefix(check: Check) -> Check:
    """A prefix of generated names may end with a dash."""
    return lambda text: check(text[:-1] + "a" if len(text) > 1 and text.endswith("-") else text)


def _qualified_name(text: str) -> list[str]:
    parts = text.split("/")
    if len(parts) > 2:
        return [f"a qualified name {NAME_WRONG.removeprefix('name part ')}"]
    found: list[str] = []
    if len(parts) == 2:
        if not parts[0]:
            found.append("prefix part must be non-empty")
        else:
            found.extend(f"prefix part {message}" for message in _CHECKS["dns1123Subdomain"](parts[0]))
    name = parts[-1]
    if not name:
        found.append("name part must be non-empty")
    elif len(name) > 63:
        found.append("name part must be no more than 63 characters")
    return found if re.fullmatch(_NAME_PART, name, re.ASCII) else [*found, NAME_WRONG]


def _uri(text: str) -> list[str]:
    parts = urlsplit(text)
    return [] if parts.scheme or text.startswith("/") else [f'parse "{text}": invalid URI for request']


def _byte(text: str) -> list[str]:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ["invalid base64"]
    return []


def _date(text: str) -> list[str]:
    return _datetime(f"{text}T00:00:00Z") and ["invalid date"]


def _datetime(text: str) -> list[str]:
    try:
        timestamp_of(text)
    except CelError:
        return ["invalid datetime"]
    return []


def _uuid(text: str) -> list[str]:
    wanted = r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"
    return [] if re.fullmatch(wanted, text, re.IGNORECASE) else ["does not match the UUID format"]


_CHECKS: dict[str, Check] = {
    "dns1123Label": _pattern(_LABEL, 63, LABEL_WRONG),
    "dns1123Subdomain": _pattern(_SUBDOMAIN, 253, SUBDOMAIN_WRONG),
    "dns1035Label": _pattern(_LABEL_1035, 63, LABEL_1035_WRONG),
    "labelValue": _pattern(_VALUE, 63, VALUE_WRONG),
    "qualifiedName": _qualified_name,
    "uri": _uri,
    "uuid": _uuid,
    "byte": _byte,
    "date": _date,
    "datetime": _datetime,
}
for _name in ("dns1123Label", "dns1123Subdomain", "dns1035Label"):
    _CHECKS[f"{_name}Prefix"] = _prefix(_CHECKS[_name])


class NamedFormat(Opaque):
    """A format by name."""

    type_name = "kubernetes.NamedFormat"
    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def equals(self, other: object) -> bool:
        return isinstance(other, NamedFormat) and self.name == other.name


def _declare(name: str) -> None:
    @function(f"format.{name}")
    def constant() -> NamedFormat:
        return NamedFormat(name)


for _name in _CHECKS:
    _declare(_name)


@function("format.named", "string")
def named(name: str) -> Optional:
    return Optional(NamedFormat(name), True) if name in _CHECKS else NONE


@function("validate", "kubernetes.NamedFormat", "string")
def validate(wanted: NamedFormat, text: str) -> Optional:
    problems = _CHECKS[wanted.name](text)
    return Optional(problems, True) if problems else NONE
