"""A real kube-apiserver, etcd and vc-scheduler without containers, by `kwokctl` and its binary runtime."""

import os
import time
from typing import Final

from seatrial.vcsim import processes
from seatrial.vcsim.clocks import rfc3339
from seatrial.vcsim.kinds import SimulatorCluster
from seatrial.vcsim.runtimes import Health, RuntimeOptions
from seatrial.vcsim.runtimes.external import create_nodes, execute, missing_programs, program, write_fake_nodes
from seatrial.vcsim.state import ClusterHome, ClusterRecord

PROGRAMS: Final = ("kwokctl", "kubectl", "kube-apiserver", "kube-controller-manager", "etcd", "vc-scheduler")
REMEDY: Final = "install it, or give its path with --binary NAME=PATH"
_FLAGS: Final = {
    "kube-apiserver": "--kube-apiserver-binary",
    "kube-controller-manager": "--kube-controller-manager-binary",
    "etcd": "--etcd-binary",
}


class Kwok:
    """kwokctl runs the control plane; vc-scheduler runs next to it."""

    name = "kwok"
    difference = "the control plane and vc-scheduler are real; nodes and pods are KWOK's"

    def missing(self, options: RuntimeOptions) -> list[str]:
        found = missing_programs(PROGRAMS, options, REMEDY)
        if options.manifests is None:
            found.append("Volcano's CustomResourceDefinitions: give their file or directory with --manifests PATH")
        elif not options.manifests.exists():
            found.append(f"--manifests: {options.manifests} does not exist")
        return found

    def create(self, cluster: SimulatorCluster, home: ClusterHome, options: RuntimeOptions) -> ClusterRecord:
        kwokctl, kubectl = str(program("kwokctl", options)), program("kubectl", options)
        assert kubectl is not None
        command = [kwokctl, "create", "cluster", "--name", home.name, "--runtime", "binary", "--wait", "2m"]
        command += ["--kubeconfig", str(home.kubeconfig), "--disable-kube-scheduler"]
        for name, flag in _FLAGS.items():
            command += [flag, str(program(name, options))]
        try:
            execute(command, home.log)
            base = [str(kubectl), "--kubeconfig", str(home.kubeconfig)]
            execute([*base, "apply", "-f", str(options.manifests)], home.log)
            write_fake_nodes(cluster, home)
            create_nodes(kubectl, home)
            process = processes.start(_scheduler(home, options), home.root / "vc-scheduler.log", home.root, os.environ)
        except BaseException:
            execute([kwokctl, "delete", "cluster", "--name", home.name], home.log)
            raise
        started = processes.start_time(process.pid)
        details = {"kwokctl": kwokctl, "kubectl": str(kubectl)}
        return ClusterRecord(self.name, "", process.pid, started, rfc3339(time.time()), details=details)

    def health(self, home: ClusterHome, record: ClusterRecord) -> Health:
        listed = execute([record.details["kwokctl"], "get", "clusters"], home.log).split()
        if home.name not in listed:
            return Health("Stopped", "kwokctl does not know the cluster any more")
        if not processes.is_running(record.pid, record.started):
            return Health("Stopped", f"vc-scheduler (pid {record.pid}) has ended; see {home.root}/vc-scheduler.log")
        return Health("Running", memory=processes.memory(record.pid))

    def delete(self, home: ClusterHome, record: ClusterRecord) -> None:
        processes.stop(record.pid, record.started)
        execute([record.details["kwokctl"], "delete", "cluster", "--name", home.name], home.log)


def _scheduler(home: ClusterHome, options: RuntimeOptions) -> list[str]:
    command = [str(program("vc-scheduler", options)), "--kubeconfig", str(home.kubeconfig), "--leader-elect=false"]
    if options.volcano_config is not None:
        command += ["--scheduler-conf", str(options.volcano_config.absolute())]
    return command
