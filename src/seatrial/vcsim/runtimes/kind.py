"""The seed's own way: a control plane in a container by `kind`, KWOK's nodes, and Volcano from its manifests."""

import time
from typing import Final

from seatrial.vcsim.clocks import rfc3339
from seatrial.vcsim.kinds import SimulatorCluster
from seatrial.vcsim.runtimes import Health, RuntimeOptions
from seatrial.vcsim.runtimes.external import (
    cannot_start,
    create_nodes,
    execute,
    missing_programs,
    program,
    write_fake_nodes,
)
from seatrial.vcsim.state import ClusterHome, ClusterRecord

PROGRAMS: Final = ("kind", "docker", "kubectl")
REMEDY: Final = "install it, or give its path with --binary NAME=PATH"


class Kind:
    """kind runs the control plane; the manifests bring KWOK and Volcano."""

    name = "kind"
    difference = "the control plane and Volcano are real and run in containers; nodes and pods are KWOK's"

    def missing(self, options: RuntimeOptions) -> list[str]:
        found = missing_programs(PROGRAMS, options, REMEDY)
        if options.manifests is None:
            found.append("the manifests of KWOK and Volcano: give their file or directory with --manifests PATH")
        elif not options.manifests.exists():
            found.append(f"--manifests: {options.manifests} does not exist")
        if options.volcano_config is not None:
            found.append("--volcano-config: with kind the configuration is part of the manifests")
        return found

    def create(self, cluster: SimulatorCluster, home: ClusterHome, options: RuntimeOptions) -> ClusterRecord:
        kind, kubectl = str(program("kind", options)), program("kubectl", options)
        assert kubectl is not None
        base = [str(kubectl), "--kubeconfig", str(home.kubeconfig)]
        try:
            execute(
                [kind, "create", "cluster", "--name", home.name, "--kubeconfig", str(home.kubeconfig), "--wait", "3m"],
                home.log,
            )
            execute([*base, "cordon", f"{home.name}-control-plane"], home.log)
            execute([*base, "label", "node", f"{home.name}-control-plane", "node-role.kubernetes.io/master="], home.log)
            execute([*base, "apply", "--server-side", "-f", str(options.manifests)], home.log)
            write_fake_nodes(cluster, home, control_plane=False)
            create_nodes(kubectl, home)
        except BaseException:
            execute([kind, "delete", "cluster", "--name", home.name], home.log)
            raise
        return ClusterRecord(self.name, created=rfc3339(time.time()), details={"kind": kind})

    def start(self, home: ClusterHome, record: ClusterRecord) -> ClusterRecord:
        raise cannot_start(home, "kind")

    def health(self, home: ClusterHome, record: ClusterRecord) -> Health:
        if home.name not in execute([record.details["kind"], "get", "clusters"], home.log).split():
            return Health("Stopped", "kind does not know the cluster any more")
        return Health("Running")

    def delete(self, home: ClusterHome, record: ClusterRecord) -> None:
        execute([record.details["kind"], "delete", "cluster", "--name", home.name], home.log)
