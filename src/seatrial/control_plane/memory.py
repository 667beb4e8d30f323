"""The memory that this process may still take: that of the machine, or of its control group if that is less."""

import os
from pathlib import Path

MEMINFO = Path("/proc/meminfo")
GROUP = Path("/sys/fs/cgroup")


def free_memory() -> int | None:
    """Free memory in bytes; None where it is unknown."""
    known = [size for size in (_of_machine(), _of_group()) if size is not None]
    return min(known, default=None)


def _of_machine() -> int | None:
    try:
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return None


def _of_group() -> int | None:
    """The limit of a control group (version 2) without what is used of it; files it caches can be given back."""
    try:
        limit = (GROUP / "memory.max").read_text().strip()
        used = int((GROUP / "memory.current").read_text())
        cached = dict(line.split() for line in (GROUP / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(0, int(limit) - used + int(cached.get("inactive_file", 0)))
