"""Upstream's own scheduler on the same cluster: `schedoracle bench`, one thread, and how much faster ours is.

Machines differ, and so does their load; the ratio of pods per CPU-second in one run is what can be promised.
"""

import re
import subprocess
from pathlib import Path

from seatrial.bench.workloads import CreateNodes, CreatePods, Workload
from seatrial.model.errors import SeatrialError

LIMIT = "20s"


def upstream_rate(program: Path, workload: Workload) -> float:
    """Pods per CPU-second of kube-scheduler itself on the cluster of a workload."""
    nodes = sum(step.count for step in workload.steps if isinstance(step, CreateNodes))
    pods = sum(step.count for step in workload.steps if isinstance(step, CreatePods) and step.measured)
    command = [str(program), "bench", "-kind", workload.name, "-nodes", str(nodes), "-pods", str(pods)]
    command += ["-procs", "1", "-parallelism", "1", "-limit", LIMIT]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as failure:
        raise SeatrialError(f"{program} does not run: {failure}") from None
    found = re.search(r"pods_per_cpu_s=([\d.]+)", answer)
    if found is None:
        raise SeatrialError(f"{program} bench did not say pods_per_cpu_s: {answer.strip()!r}")
    return float(found[1])
