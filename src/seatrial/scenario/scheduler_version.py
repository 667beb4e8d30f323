"""Which version of kube-scheduler decides: the one that is named, or that of the cluster's nodes."""

from seatrial.scheduler.versions import DEFAULT, VERSIONS, find_version
from seatrial.store.snapshots import Snapshot


def simulated_version(named: str, snapshot: Snapshot | None = None) -> tuple[str, str]:
    """The minor version to simulate, and a sentence where it is another one than that of the name or of the nodes."""
    if named:
        found = find_version(named)
        if named.removeprefix("v") in (found.minor, found.release.removeprefix("v")):
            return found.minor, ""
        return found.minor, f"{named} is simulated by the recorded release of its minor version, {found.release}"
    nodes = snapshot.kubelet_minors() if snapshot is not None else set()
    found = VERSIONS.get(next(iter(nodes)), DEFAULT) if len(nodes) == 1 else DEFAULT
    if not nodes or nodes == {DEFAULT.minor}:
        return found.minor, ""
    runs = f"the nodes of the snapshot run v{', v'.join(sorted(nodes))}"
    return found.minor, f"{runs}: kube-scheduler {found.release} decides (--kubernetes-version chooses another)"
