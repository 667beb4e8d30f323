"""What a simulated cluster runs on: our own server, or a real control plane for those who have one.

All runtimes do the same four things. `missing` tells what a runtime needs and does not find, before anything is made.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from seatrial.model.errors import ConfigError
from seatrial.vcsim.kinds import SimulatorCluster
from seatrial.vcsim.state import ClusterHome, ClusterRecord


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """What a user may choose when a cluster is made."""

    volcano_config: Path | None = None
    binaries: dict[str, Path] = field(default_factory=dict)
    """Programs given by path, by their name: kwokctl, kube-apiserver, etcd, vc-scheduler, ..."""
    manifests: Path | None = None
    """Volcano's installation manifests, for kind."""


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a cluster runs, and what it takes."""

    state: str
    reason: str = ""
    memory: int = 0

    @property
    def is_running(self) -> bool:
        return self.state == "Running"


class Runtime(Protocol):
    """One way to run a cluster."""

    name: str
    difference: str
    """How results differ from those of the seed's real control plane, in one sentence."""

    def missing(self, options: RuntimeOptions) -> list[str]:
        """What is needed and not there, each with its remedy."""

    def create(self, cluster: SimulatorCluster, home: ClusterHome, options: RuntimeOptions) -> ClusterRecord:
        """Make the cluster with all its nodes; return when it is ready."""

    def start(self, home: ClusterHome, record: ClusterRecord) -> ClusterRecord:
        """Start a cluster that was stopped, with the objects it had; return when it is ready."""

    def health(self, home: ClusterHome, record: ClusterRecord) -> Health:
        """Whether the cluster still runs."""

    def delete(self, home: ClusterHome, record: ClusterRecord) -> None:
        """End the cluster; one that has ended already is no error."""


def runtime(name: str) -> Runtime:
    """The runtime of that name."""
    from seatrial.vcsim.runtimes.embedded import Embedded
    from seatrial.vcsim.runtimes.kind import Kind
    from seatrial.vcsim.runtimes.kwok import Kwok

    known: dict[str, type[Runtime]] = {"embedded": Embedded, "kwok": Kwok, "kind": Kind}
    if name not in known:
        raise ConfigError("", "--runtime", f"expected one of {', '.join(known)}, got {name!r}")
    return known[name]()
