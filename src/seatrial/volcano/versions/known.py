"""The records, newest first, and the choice among them."""

from seatrial.model.errors import ConfigError
from seatrial.volcano.versions.version import Rules, Version

DEFAULT = Version("master", "ed72c7c", "1.36")
"""The tree of August 2026, later than v1.15.1."""
_V1_15 = Version(
    "1.15",
    "v1.15.1",
    "1.35",
    left_out=frozenset({"deviceshare", "numa-aware", "usage"}),
    rules=Rules(
        counts_releasing_tasks=False,
        counts_jobs_let_in=False,
        preempts_for_predicates=False,
        limits_node_groups=False,
        tells_extenders_of_jobs_let_in=False,
        scores_claims=False,
        has_newest_metrics=False,
    ),
)
VERSIONS = (DEFAULT, _V1_15)


def find_version(name: str) -> Version:
    """The version of a name such as `1.15`, `v1.15` or `v1.15.1`; the default where the name is empty."""
    wanted = name.removeprefix("v")
    for version in VERSIONS:
        if not name or wanted == version.minor or wanted.startswith(f"{version.minor}.") or name == version.release:
            return version
    known = ", ".join(version.minor for version in reversed(VERSIONS))
    raise ConfigError("", "--volcano-version", f"expected one of {known}, got {name!r}")
