"""Names of device attributes, capacities and pools.

Upstream: validateQualifiedName and validatePoolName of pkg/apis/resource/validation/validation.go.
"""

import re
from collections.abc import Iterator

from seatrial.model.errors import Cause
from seatrial.store.field_errors import invalid, required, too_long
from seatrial.store.validation.formats import subdomain
from seatrial.store.validation.pods.volume_sources import driver_name

_IDENTIFIER = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_IDENTIFIER_WRONG = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric "
    "characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is "
    "'[A-Za-z_][A-Za-z0-9_]*')"
)


def attribute_name(name: str, path: str, *, full: bool = False) -> Iterator[Cause]:
    """An identifier, with a domain before it where it is `full`."""
    parts = name.split("/")
    if len(parts) == 2:
        if not parts[0]:
            yield invalid(path, "", "the domain must not be empty")
        else:
            yield from driver_name(parts[0], path)
    if len(parts) == 2 and not parts[1]:
        yield invalid(path, "", "the name must not be empty")
    elif len(parts) <= 2:
        yield from _identifier(parts[-1], path)
    if full and "/" not in name:
        yield invalid(path, name, "a fully qualified name must be a domain and a name separated by a slash")


def _identifier(name: str, path: str) -> Iterator[Cause]:
    if len(name.encode()) > 32:
        yield too_long(path, 32)
    if not _IDENTIFIER.fullmatch(name):
        yield invalid(path, name, _IDENTIFIER_WRONG)


def pool_name(name: str, path: str) -> Iterator[Cause]:
    """Subdomains separated by slashes."""
    if not name:
        yield required(path)
        return
    if len(name.encode()) > 253:
        yield too_long(path, 253)
    for part in name.split("/"):
        yield from subdomain(part, path)
