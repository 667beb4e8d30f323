"""All recorded cases of a directory, replayed on several cores."""

import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from seatrial.model.errors import SeatrialError
from seatrial.verify.cases import BadCase, Case, case_files, read_cases
from seatrial.verify.replay import difference
from seatrial.verify.volcano import volcano_difference

Outcome = tuple[str, str | None]
"""A case's name, and where its replay differs first."""
_SHAPE_ERRORS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError, SeatrialError)
"""What reading a document of the wrong shape ends with."""


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
    return [(f"{path.parent.name}/{case.name}", _difference(path, case)) for case in read_cases(path)]


def _difference(path: Path, case: Case) -> str | None:
    try:
        return volcano_difference(case.input, case.expected) if case.is_volcano else difference(case)
    except _SHAPE_ERRORS as error:
        problem = f"cannot be replayed: {type(error).__name__}: {error}"
        raise BadCase(f"{path}: case {case.name}: {problem}") from error


def _flat(outcomes: Iterable[list[Outcome]]) -> list[Outcome]:
    return [outcome for listed in outcomes for outcome in listed]
