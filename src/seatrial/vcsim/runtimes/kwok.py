"""A real kube-apiserver, etcd and Volcano without containers, by `kwokctl` and its binary runtime."""

import os
import time
from collections.abc import Iterator
from typing import Final

from seatrial.vcsim import processes
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

VOLCANO: Final = ("vc-scheduler", "vc-controller-manager")
PROGRAMS: Final = ("kwokctl", "kubectl", "kube-apiserver", "kube-controller-manager", "etcd", *VOLCANO)
REMEDY: Final = "install it, or give its path with --binary NAME=PATH"
_FLAGS: Final = {
    "kube-apiserver": "--kube-apiserver-binary",
    "kube-controller-manager": "--kube-controller-manager-binary",
    "etcd": "--etcd-binary",
}


class Kwok:
    """kwokctl runs the control plane; Volcano's scheduler and controllers run next to it."""

    name = "kwok"
    difference = "the control plane and Volcano are real; nodes and pods are KWOK's"

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
            write_fake_nodes(cluster, home, control_plane=True)
            create_nodes(kubectl, home)
            started = _start_volcano(home, options)
        except BaseException:
            execute([kwokctl, "delete", "cluster", "--name", home.name], home.log)
            raise
        return ClusterRecord(self.name, created=rfc3339(time.time()), details={"kwokctl": kwokctl, **started})

    def start(self, home: ClusterHome, record: ClusterRecord) -> ClusterRecord:
        raise cannot_start(home, "kwokctl")

    def health(self, home: ClusterHome, record: ClusterRecord) -> Health:
        listed = execute([record.details["kwokctl"], "get", "clusters"], home.log).split()
        if home.name not in listed:
            return Health("Stopped", "kwokctl does not know the cluster any more")
        memory = 0
        for name, pid, started in _processes(record):
            if not processes.is_running(pid, started):
                return Health("Stopped", f"{name} (pid {pid}) has ended; see {home.root / name}.log")
            memory += processes.memory(pid)
        return Health("Running", memory=memory)

    def delete(self, home: ClusterHome, record: ClusterRecord) -> None:
        for _, pid, started in _processes(record):
            processes.stop(pid, started)
        execute([record.details["kwokctl"], "delete", "cluster", "--name", home.name], home.log)


def _start_volcano(home: ClusterHome, options: RuntimeOptions) -> dict[str, str]:
    """Start Volcano's programs; their pids and start times, as the record keeps them."""
    found: dict[str, str] = {}
    for name in VOLCANO:
        command = [str(program(name, options)), "--kubeconfig", str(home.kubeconfig), "--leader-elect=false"]
        if name == "vc-scheduler" and options.volcano_config is not None:
            command += ["--scheduler-conf", str(options.volcano_config.absolute())]
        process = processes.start(command, home.root / f"{name}.log", home.root, os.environ)
        found[name] = f"{process.pid} {processes.start_time(process.pid)}"
    return found


def _processes(record: ClusterRecord) -> Iterator[tuple[str, int, str]]:
    for name in VOLCANO:
        pid, _, started = record.details[name].partition(" ")
        yield name, int(pid), started
