"""What `vcsimctl` keeps of a cluster: one directory under ~/.vcsimctl, which is deleted with the cluster.

A virtual run without a cluster leaves a directory with reports alone.

~/.vcsimctl/<cluster>/cluster.yaml   the SimulatorCluster
~/.vcsimctl/<cluster>/kubeconfig     for kubectl
~/.vcsimctl/<cluster>/runtime.json   how it runs: runtime, process, address
~/.vcsimctl/<cluster>/server.log     what the server printed
~/.vcsimctl/<cluster>/data/          the objects of an embedded cluster
~/.vcsimctl/<cluster>/report/        results of tests
"""

import json
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

from seatrial.model.errors import ConfigError
from seatrial.store import label_faults
from seatrial.vcsim.kinds import SimulatorCluster


def home() -> Path:
    """The directory of all clusters."""
    return Path.home() / ".vcsimctl"


@dataclass(frozen=True, slots=True)
class ClusterRecord:
    """How a cluster runs."""

    runtime: str
    url: str = ""
    pid: int = 0
    started: str = ""
    """When the process began, as the system tells it: a pid may be given again."""
    created: str = ""
    context: str = ""
    """The context in the user's kubeconfig, where it was merged."""
    details: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClusterHome:
    """The directory of one cluster."""

    name: str

    @classmethod
    def named(cls, name: str) -> Self:
        """The directory for a name, which need not exist; ConfigError where no cluster can have the name."""
        if faults := label_faults(name):
            raise ConfigError("", "--cluster", f"{name!r}: {faults[0]}")
        return cls(name)

    @classmethod
    def find_kept(cls, name: str) -> Self:
        """The directory of a cluster, or of reports without one; ConfigError names those that there are."""
        found = cls(name)
        if label_faults(name) or not (found.exists() or found.has_reports()):
            known = ", ".join(kept.name for kept in _kept()) or "none"
            raise ConfigError("", name, f"no such cluster, and no reports of that name; known are: {known}")
        return found

    @classmethod
    def find(cls, name: str) -> Self:
        """The directory of a cluster that exists; ConfigError names those that do."""
        found = cls(name)
        if label_faults(name) or not found.exists():
            known = ", ".join(cluster.name for cluster in clusters()) or "none"
            raise ConfigError("", name, f"no such cluster; known are: {known}")
        return found

    @property
    def root(self) -> Path:
        return home() / self.name

    @property
    def config(self) -> Path:
        return self.root / "cluster.yaml"

    @property
    def kubeconfig(self) -> Path:
        return self.root / "kubeconfig"

    @property
    def log(self) -> Path:
        return self.root / "server.log"

    @property
    def nodes(self) -> Path:
        return self.root / "nodes.json"

    @property
    def volcano_config(self) -> Path:
        """The scheduler's configuration, where one was given."""
        return self.root / "volcano-scheduler.conf"

    @property
    def reports(self) -> Path:
        return self.root / "report"

    def exists(self) -> bool:
        return self.config.exists()

    def has_reports(self) -> bool:
        return self.reports.is_dir()

    def cluster(self) -> SimulatorCluster:
        """The configuration that the cluster was made from."""
        return SimulatorCluster.read(self.config)

    def record(self) -> ClusterRecord:
        """How the cluster runs; ConfigError where the record is damaged."""
        path = self.root / "runtime.json"
        try:
            return ClusterRecord(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError) as error:
            why = f"cannot be read ({error}); `vcsimctl delete cluster {self.name}` removes what is left"
            raise ConfigError(str(path), "", why) from error

    def write_record(self, record: ClusterRecord) -> None:
        path = self.root / "runtime.json"
        temporary = path.with_suffix(".new")
        temporary.write_text(json.dumps(asdict(record), indent=2) + "\n")
        temporary.replace(path)

    def clear(self) -> None:
        """Delete all but the reports."""
        for path in self.root.iterdir() if self.root.is_dir() else ():
            if path == self.reports:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        with suppress(OSError):
            self.root.rmdir()
            home().rmdir()

    def remove(self) -> None:
        """Delete the directory and all that is in it."""
        shutil.rmtree(self.root, ignore_errors=True)
        with suppress(OSError):
            home().rmdir()


def clusters() -> list[ClusterHome]:
    """All clusters, by name."""
    return [found for found in _kept() if found.exists()]


def _kept() -> list[ClusterHome]:
    """All clusters and all reports without one, by name."""
    root = home()
    names = sorted(path.name for path in root.iterdir()) if root.is_dir() else []
    return [found for name in names if (found := ClusterHome(name)).exists() or found.has_reports()]


def the_reports(name: str | None) -> ClusterHome:
    """The directory of that name, or the only one with reports; ConfigError names them where that does not decide."""
    if name is not None:
        return ClusterHome.find_kept(name)
    found = [kept for kept in _kept() if kept.has_reports()]
    none = "there is no report yet; `vcsimctl run --test FILE` makes one"
    return _only(found, none, "there are reports of several names, choose one")


def the_cluster(name: str | None) -> ClusterHome:
    """The cluster of that name, or the only one there is; ConfigError names them where that does not decide."""
    if name is not None:
        return ClusterHome.find(name)
    none = "there is no cluster; make one with `vcsimctl create cluster --config FILE`"
    return _only(clusters(), none, "there are several clusters, name one")


def _only(found: list[ClusterHome], none: str, several: str) -> ClusterHome:
    """The only one; ConfigError with one of these texts if there is no such one, or more than one."""
    if not found:
        raise ConfigError("", "--cluster", none)
    if len(found) > 1:
        raise ConfigError("", "--cluster", f"{several}: {', '.join(one.name for one in found)}")
    return found[0]
