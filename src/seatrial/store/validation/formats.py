"""Checks of the formats that fields share: names, ports, keys, addresses, paths.

Upstream: k8s.io/apimachinery/pkg/util/validation (validation.go, ip.go) and the path rules of
pkg/apis/core/validation/validation.go.
"""

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.integers import int_of
from seatrial.model.label_selectors import label_key_faults, label_value_faults
from seatrial.store.field_errors import forbidden, invalid, required
from seatrial.store.object_meta import Faults, label_causes, label_faults, subdomain_faults

MOST_INT32 = 2**31 - 1
NEGATIVE = "must be greater than or equal to 0"
NOT_POSITIVE = "must be greater than zero"
FILE_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
_PORT_NAME = re.compile("[-a-z0-9]+")
_PERCENT = re.compile("[0-9]+%")
_HEADER = re.compile("[-A-Za-z0-9]+")
_KEY = re.compile("[-._a-zA-Z0-9]+")
_LABEL_ = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_ = re.compile(rf"{_LABEL_}(\.{_LABEL_})*")
_DECIMAL = re.compile("0|-?[1-9][0-9]*")
_PERCENT_WRONG = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)
_HEADER_WRONG = (
    "a valid HTTP header must consist of alphanumeric characters or '-' "
    "(e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"
)
_KEY_WRONG = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
    "(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
_SUBDOMAIN_WRONG_ = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must "
    "start and end with an alphanumeric character "
    f"(e.g. 'example.com', regex used for validation is '{_LABEL_}(\\.{_LABEL_})*')"
)


def each(faults: Callable[[str], Faults], value: str, path: str) -> Iterable[Cause]:
    """Every fault of a text as a cause."""
    found = faults(value)
    return [invalid(path, value, fault) for fault in found] if found else ()


def label(value: str, path: str) -> Iterable[Cause]:
    """A DNS label."""
    return each(label_faults, value, path)


def subdomain(value: str, path: str) -> Iterable[Cause]:
    """A DNS subdomain."""
    return each(subdomain_faults, value, path)


def qualified(value: str, path: str) -> Iterable[Cause]:
    """A name with an optional DNS prefix."""
    return each(label_key_faults, value, path)


def label_value(value: str, path: str) -> Iterable[Cause]:
    """The value of a label."""
    return each(label_value_faults, value, path)


def needed(document: dict[str, Any], path: str, *keys: str) -> Iterator[Cause]:
    """Texts and lists that must not be empty."""
    for key in keys:
        if not document.get(key):
            yield required(f"{path}.{key}")


def template_metadata(metadata: Document, path: str) -> Iterator[Cause]:
    """The metadata of a template: labels and annotations."""
    yield from label_causes(metadata.get("labels") or {}, f"{path}.labels")
    for key, value in metadata.items():
        if key not in ("labels", "annotations") and value:
            yield forbidden(f"{path}.{key}", "cannot be set")


def between(low: int, high: int) -> str:
    """The text for a number out of range."""
    return f"must be between {low} and {high}, inclusive"


def not_negative(value: int | None, path: str) -> Iterable[Cause]:
    """A number from zero on."""
    return (invalid(path, value, NEGATIVE),) if value is not None and value < 0 else ()


def positive(value: int, path: str) -> Iterable[Cause]:
    """A number above zero."""
    return (invalid(path, value, NOT_POSITIVE),) if value <= 0 else ()


def identity(value: int | None, path: str) -> Iterable[Cause]:
    """The number of a user or a group."""
    return () if value is None or 0 <= value <= MOST_INT32 else (invalid(path, value, between(0, MOST_INT32)),)


def file_mode(value: int | None, path: str) -> Iterable[Cause]:
    """The permissions of a file."""
    return () if value is None or 0 <= value <= 0o777 else (invalid(path, value, FILE_MODE),)


def port_number(value: int, path: str) -> Iterable[Cause]:
    """The number of a port."""
    return () if 1 <= value <= 65535 else (invalid(path, value, between(1, 65535)),)


def port(value: int | str, path: str) -> Iterable[Cause]:
    """A port by number or by name."""
    return port_number(value, path) if isinstance(value, int) else each(port_name_faults, value, path)


@lru_cache(1024)
def port_name_faults(name: str) -> Faults:
    """Errors for a string that is not the name of a port."""
    faults = []
    if len(name.encode()) > 15:
        faults.append("must be no more than 15 characters")
    if not _PORT_NAME.fullmatch(name):
        faults.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", name):
        faults.append("must contain at least one letter (a-z)")
    if "--" in name:
        faults.append("must not contain consecutive hyphens")
    if name.startswith("-") or name.endswith("-"):
        faults.append("must not begin or end with a hyphen")
    return tuple(faults)


@lru_cache(4096)
def environment_faults(name: str) -> Faults:
    """Errors for a string that is not the name of an environment variable."""
    if not name:
        return ("environment variable name must be non-empty",)
    if all(" " <= letter <= "~" and letter != "=" for letter in name):
        return ()
    return ("a valid environment variable name must consist only of printable ASCII characters other than '='",)


@lru_cache(4096)
def key_faults(key: str) -> Faults:
    """Errors for a string that is not a key of a ConfigMap or Secret."""
    faults = []
    if len(key.encode()) > 253:
        faults.append("must be no more than 253 characters")
    if not _KEY.fullmatch(key):
        faults.append(_KEY_WRONG)
    if key in (".", ".."):
        faults.append(f"must not be '{key}'")
    elif key.startswith(".."):
        faults.append("must not start with '..'")
    return tuple(faults)


def header_faults(name: str) -> Faults:
    """Errors for a string that is not the name of an HTTP header."""
    return () if _HEADER.fullmatch(name) else (_HEADER_WRONG,)


def percent_faults(text: str) -> Faults:
    """Errors for a string that is not a percentage."""
    return () if _PERCENT.fullmatch(text) else (_PERCENT_WRONG,)


def decimal_faults(text: str) -> Faults:
    """Errors for a string that is not a whole number in its shortest form."""
    if not text:
        return ("must be non-empty",)
    return () if _DECIMAL.fullmatch(text) else ("must be a valid decimal integer in canonical form",)


def search_faults(name: str) -> Faults:
    """Errors for a string that is not a DNS search path."""
    long = ("must be no more than 253 characters",) if len(name.encode()) > 253 else ()
    return (*long, *(() if _SUBDOMAIN_.fullmatch(name) else (_SUBDOMAIN_WRONG_,)))


def address(value: str, path: str) -> Iterator[Cause]:
    """An IP address."""
    sloppy = parse_address(value)
    if sloppy is None:
        yield invalid(path, value, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")
    elif _strict(value) is None:
        yield invalid(path, value, "must not have leading 0s")
    elif isinstance(sloppy, ipaddress.IPv6Address) and sloppy.ipv4_mapped:
        yield invalid(path, value, "must not be an IPv4-mapped IPv6 address")


def network(value: str, path: str) -> Iterator[Cause]:
    """A block of IP addresses."""
    base, slash, bits = value.partition("/")
    sloppy = parse_address(base)
    most = 32 if isinstance(sloppy, ipaddress.IPv4Address) else 128
    if sloppy is None or not slash or not bits.isdecimal() or not 0 <= int_of(bits, -1) <= most:
        yield invalid(path, value, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")
    elif _strict(base) is None or str(int_of(bits)) != bits:
        yield invalid(path, value, "must not have leading 0s in IP or prefix length")
    elif isinstance(sloppy, ipaddress.IPv6Address) and sloppy.ipv4_mapped:
        yield invalid(path, value, "must not have an IPv4-mapped IPv6 address")
    elif int(sloppy) & ((1 << (most - int_of(bits))) - 1):
        yield invalid(path, value, "must not have bits set beyond the prefix length")


def parse_address(value: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address, leading zeros allowed; None if the text is no address."""
    if "%" in value:
        return None
    if ":" not in value:
        value = ".".join(part.lstrip("0") or part[:1] for part in value.split("."))
    return _strict(value)


def _strict(value: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(value)
    except ValueError:
        return None


def no_backsteps(value: str, path: str) -> Iterable[Cause]:
    """A path that does not go up."""
    return (invalid(path, value, "must not contain '..'"),) if ".." in value.split("/") else ()


def descending(value: str, path: str) -> Iterator[Cause]:
    """A relative path that does not go up."""
    if value.startswith("/"):
        yield invalid(path, value, "must be a relative path")
    yield from no_backsteps(value, path)


def unreserved(value: str, path: str) -> Iterator[Cause]:
    """A relative path whose name is not taken by the kubelet."""
    yield from descending(value, path)
    if value.startswith("..") and not value.startswith("../"):
        yield invalid(path, value, "must not start with '..'")
