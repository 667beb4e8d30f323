"""The string formats that upstream checks in custom resources; other formats are ignored.

Upstream: kube-openapi/pkg/validation/strfmt and apiextensions-apiserver/pkg/apiserver/validation/formats.go.
"""

import binascii
import ipaddress
import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.durations import DurationError, parse_nanoseconds
from seatrial.model.times import parse_time
from seatrial.store.object_meta import label_faults, subdomain_faults

_HOST = re.compile(
    r"(?:[a-zA-Z0-9](?:[-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?\.)*[a-zA-Z0-9](?:[-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?\.?"
)
_UUID = r"[0-9a-f]{8}-?[0-9a-f]{4}-?%s[0-9a-f]{3}-?%s[0-9a-f]{3}-?[0-9a-f]{12}"
_MAC = re.compile(r"([0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}|([0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4})")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_SCALA_DURATION = re.compile(r"\d+\s*(ns|us|µs|ms|s|sec|seconds?|m|min|minutes?|h|hr|hours?|d|days?|w|wk|weeks?)")


def has_format(name: str, value: str) -> bool:
    """Whether a string has a format; every string has an unknown format."""
    check = _CHECKS.get(name.replace("-", ""))
    if check is None:
        return True
    try:
        return bool(check(value))
    except ValueError:
        return False


def _version_of_address(version: int) -> Callable[[str], bool]:
    return lambda value: ipaddress.ip_address(value).version == version


def _is_duration(value: str) -> bool:
    try:
        parse_nanoseconds(value)
    except DurationError:
        return _SCALA_DURATION.fullmatch(value) is not None
    return True


def _is_base64(value: str) -> bool:
    return binascii.a2b_base64(value, strict_mode=True) is not None


def _matcher(expression: str, flags: int = 0) -> Callable[[str], bool]:
    compiled = re.compile(expression, flags)
    return lambda value: compiled.fullmatch(value) is not None


_CHECKS: dict[str, Callable[[str], bool]] = {
    "byte": _is_base64,
    "cidr": lambda value: ipaddress.ip_network(value, strict=False) is not None and "/" in value,
    "date": lambda value: date.fromisoformat(value) is not None and len(value) == 10,
    "datetime": lambda value: parse_time(value) is not None,
    "duration": _is_duration,
    "email": lambda value: _EMAIL.fullmatch(value) is not None,
    "hexcolor": _matcher("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": lambda value: len(value) < 255 and _HOST.fullmatch(value) is not None,
    "ipv4": _version_of_address(4),
    "ipv6": _version_of_address(6),
    "k8slongname": lambda value: not subdomain_faults(value),
    "k8sshortname": lambda value: not label_faults(value),
    "mac": lambda value: _MAC.fullmatch(value) is not None,
    "ssn": _matcher(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "uri": _matcher(r"([a-zA-Z][-+.a-zA-Z0-9]*:\S+|/\S*)"),
    "uuid": _matcher(_UUID % ("[0-9a-f]", "[0-9a-f]"), re.IGNORECASE),
    "uuid3": _matcher(_UUID % ("3", "[0-9a-f]"), re.IGNORECASE),
    "uuid4": _matcher(_UUID % ("4", "[89ab]"), re.IGNORECASE),
    "uuid5": _matcher(_UUID % ("5", "[89ab]"), re.IGNORECASE),
}

CHECKED_FORMATS = frozenset((*_CHECKS, "date-time", "k8s-short-name", "k8s-long-name"))
"""Every spelling of a format that is checked."""
_ACCEPTED = frozenset((*_CHECKS, "bsonobjectid", "creditcard", "isbn", "isbn10", "isbn13", "password", "rgbcolor"))
"""Formats of strings that upstream knows; some are not checked here."""
_NUMBERS = {"integer": ("int32", "int64"), "number": ("float", "double")}
_DATA = frozenset(("default", "enum", "example", "required", "x-kubernetes-validations"))


def unrecognized_formats(definition: Document) -> Iterator[str]:
    """The formats in the schemas of a CustomResourceDefinition that are ignored."""
    for version in (definition.get("spec") or {}).get("versions") or ():
        yield from _unrecognized((version.get("schema") or {}).get("openAPIV3Schema"))


def _unrecognized(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for each in schema:
            yield from _unrecognized(each)
    if not isinstance(schema, dict):
        return
    name, type_ = schema.get("format"), schema.get("type", "")
    if isinstance(name, str) and name:
        known = name.replace("-", "") in _ACCEPTED if type_ in ("", "string") else name in _NUMBERS.get(type_, ())
        if not known:
            yield name
    for key, value in schema.items():
        if key in ("properties", "patternProperties", "definitions", "dependencies") and isinstance(value, dict):
            yield from _unrecognized(list(value.values()))
        elif key not in _DATA:
            yield from _unrecognized(value)
