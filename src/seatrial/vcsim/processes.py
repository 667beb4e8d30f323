"""Background processes: starting one that outlives the command, and telling later whether it still lives.

A pid may be given to another process after its own has ended, so the start time that the system keeps is compared.
"""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

MEBIBYTE = 1024 * 1024
ENDED_WITHIN = 10.0
LOOK_EVERY = 0.02


def start(command: Sequence[str], log: Path, cwd: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, with its output in a file."""
    with log.open("wb") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=dict(environment),
            start_new_session=True,
        )


def start_time(pid: int) -> str:
    """When a process began, in the system's own terms; empty if it does not run (or is a zombie)."""
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            return ""
        return "" if fields[0] == "Z" else fields[19]
    return _ps(pid, "lstart=")


def is_running(pid: int, started: str) -> bool:
    """Whether the process that was started then still runs."""
    return pid > 0 and bool(started) and start_time(pid) == started


def memory(pid: int) -> int:
    """Resident bytes of a process; 0 where it is gone."""
    status = Path(f"/proc/{pid}/status")
    try:
        lines = status.read_text().splitlines()
    except OSError:
        text = _ps(pid, "rss=")
        return int(text) * 1024 if text.isdigit() else 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:")), 0)


def stop(pid: int, started: str) -> bool:
    """End a process, by force where it does not end by itself; False where it was gone already."""
    if not is_running(pid, started):
        return False
    _signal(pid, signal.SIGTERM)
    end = time.monotonic() + ENDED_WITHIN
    while is_running(pid, started):
        if time.monotonic() > end:
            _signal(pid, signal.SIGKILL)
        time.sleep(LOOK_EVERY)
    return True


def _signal(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process that may have ended since it was looked at."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _ps(pid: int, field: str) -> str:
    answer = subprocess.run(["ps", "-o", field, "-p", str(pid)], capture_output=True, text=True, check=False)
    return answer.stdout.strip()
