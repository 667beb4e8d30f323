"""Counters of the server in Prometheus' text form, named as kube-apiserver names its own."""

import os
import resource
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path


class Metrics:
    """The metrics of /metrics."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._started = time.time()
        self.watchers = 0
        self.pages: list[Callable[[], str]] = []
        """Metrics of other components, in the same form."""

    def count(self, method: str, status: int) -> None:
        self._requests[method, status] += 1

    def text(self, objects: dict[str, int]) -> str:
        """The whole page; `objects` are the numbers of stored objects by resource."""
        lines = ["# TYPE apiserver_request_total counter"]
        lines += [
            f'apiserver_request_total{{verb="{method}",code="{status}"}} {number}'
            for (method, status), number in sorted(self._requests.items())
        ]
        lines += ["# TYPE apiserver_longrunning_requests gauge"]
        lines += [f'apiserver_longrunning_requests{{verb="WATCH"}} {self.watchers}']
        lines += ["# TYPE apiserver_storage_objects gauge"]
        lines += [
            f'apiserver_storage_objects{{resource="{name}"}} {number}' for name, number in sorted(objects.items())
        ]
        lines += process_lines(self._started)
        return "\n".join(lines) + "\n" + "".join(page() for page in self.pages)


def process_lines(started: float) -> list[str]:
    """Metrics of this process, which began at `started`."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return [
        "# TYPE process_cpu_seconds_total counter",
        f"process_cpu_seconds_total {usage.ru_utime + usage.ru_stime:.2f}",
        "# TYPE process_resident_memory_bytes gauge",
        f"process_resident_memory_bytes {resident_bytes()}",
        "# TYPE process_start_time_seconds gauge",
        f"process_start_time_seconds {started:.2f}",
    ]


def resident_bytes() -> int:
    """Resident memory of this process; 0 where /proc does not have it."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
