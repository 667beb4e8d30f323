"""All recorded cases of a directory, replayed on several cores."""

import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from seatrial.verify.cases import case_files, read_cases
from seatrial.verify.replay import difference

Outcome = tuple[str, str | None]
"""A case's name, and where its replay differs first."""


def verify(directory: Path, jobs: int = 0) -> list[Outcome]:
    """Replays every case below a directory, in the order of the files."""
    files = case_files(directory)
    processes = jobs or os.cpu_count() or 1
    if processes == 1 or len(files) < 4:
        return _flat(map(verify_file, files))
    with ProcessPoolExecutor(processes) as pool:
        return _flat(pool.map(verify_file, files, chunksize=8))


def verify_file(path: Path) -> list[Outcome]:
    """Replays the cases of one file."""
    return [(f"{path.parent.name}/{case.name}", difference(case)) for case in read_cases(path)]


def _flat(outcomes: Iterable[list[Outcome]]) -> list[Outcome]:
    return [outcome for listed in outcomes for outcome in listed]
