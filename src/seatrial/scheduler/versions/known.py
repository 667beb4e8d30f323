"""The versions by name, and the one that is simulated where none is named."""

import re
from collections.abc import Mapping

from seatrial.model.errors import ConfigError
from seatrial.scheduler.versions import v1_34, v1_35, v1_36, v1_37
from seatrial.scheduler.versions.version import Version

VERSIONS: Mapping[str, Version] = {record.VERSION.minor: record.VERSION for record in (v1_34, v1_35, v1_36, v1_37)}
DEFAULT = v1_37.VERSION
"""The version of all commands where neither an option nor a snapshot names one."""
_WRITTEN = re.compile(r"v?(\d+\.\d+)(?:\.\d+)?(?:[-+].*)?")


def find_version(text: str) -> Version:
    """The version that `1.36`, `v1.36.1` or `v1.36.4-eks-1234` names: the recorded one of its minor version."""
    written = _WRITTEN.fullmatch(text.strip())
    found = VERSIONS.get(written[1]) if written else None
    if found is None:
        known = ", ".join(VERSIONS)
        raise ConfigError("", "--kubernetes-version", f"expected one of {known}, got {text!r}")
    return found
