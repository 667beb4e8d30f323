"""How much memory the scheduler itself takes: with a large cluster in the store, before it starts and after.

The store with its documents is there in both cases; what is added is the scheduler's table, its pods and its columns.
"""

import ctypes
import gc
import os
import sys
from pathlib import Path

from seatrial.bench.workload_run import WorkloadRun
from seatrial.bench.workloads import Barrier, CreateNodes, CreatePods, Workload

PAGE = os.sysconf("SC_PAGE_SIZE")


def added_megabytes(nodes: int, pods: int) -> float:
    """The memory that a started scheduler adds to a process whose store has these numbers of nodes and bound pods."""
    run = WorkloadRun()
    zones = ("zone-0", "zone-1", "zone-2")
    cluster = (
        CreateNodes(count=nodes, template="node-large", zones=zones),
        CreatePods(count=pods, template="pod-default", on_nodes=True),
    )
    run.run_steps(Workload("memory", 0, cluster))
    before = resident_megabytes()
    run.scheduler.start()
    more = (CreatePods(count=100, template="pod-default"), Barrier())
    run.run_steps(Workload("memory", 0, more))
    return resident_megabytes() - before


def resident_megabytes() -> float:
    """Resident memory of this process, after what is free was given back."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6
