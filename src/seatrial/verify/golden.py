"""All recorded cases of a directory, replayed on several cores."""

import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from seatrial.model.errors import SeatrialError
from seatrial.scheduler.versions import Version, find_version
from seatrial.verify.cases import BadCase, Case, NoCases, Unreadable, case_files, read_cases
from seatrial.verify.replay import difference
from seatrial.verify.volcano import volcano_difference

Outcome = tuple[str, str | None]
"""A case's name, and where its replay differs first."""
_SHAPE_ERRORS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError, SeatrialError)
"""What reading a document of the wrong shape ends with."""


class Problem(str):
    """Why a case cannot be read or replayed."""


def verify(directory: Path, jobs: int = 0, version: str = "") -> list[Outcome]:
    """Replays every case below a directory, in the order of the files, by the version named or that of each case."""
    outcomes = _replayed(directory, jobs, version)
    if all(isinstance(problem, Problem) for _, problem in outcomes):
        raise NoCases(f"{case_files(directory)[0]}: {outcomes[0][1]}")
    return outcomes


def _replayed(directory: Path, jobs: int, version: str) -> list[Outcome]:
    if version:
        find_version(version)
    files = case_files(directory)
    verify_one = partial(verify_file, version=version)
    processes = jobs or os.cpu_count() or 1
    if processes == 1 or len(files) < 4:
        return _flat(map(verify_one, files))
    with ProcessPoolExecutor(processes) as pool:
        return _flat(pool.map(verify_one, files, chunksize=8))


def verify_file(path: Path, version: str = "") -> list[Outcome]:
    """Replays the cases of one file; a case or a file that cannot be read or replayed differs, and the others go on."""
    try:
        cases = list(read_cases(path))
    except BadCase as error:
        return [(f"{path.parent.name}/{path.name}", Problem(error))]
    known = find_version(version) if version else None
    return [
        (
            f"{path.parent.name}/{case.name}",
            Problem(case.problem) if isinstance(case, Unreadable) else difference_of(case, known),
        )
        for case in cases
    ]


def difference_of(case: Case, version: Version | None = None) -> str | None:
    """Where the replay of a case differs first, or why it cannot be replayed; None if it is equal."""
    try:
        return volcano_difference(case.input, case.expected) if case.is_volcano else difference(case, version)
    except _SHAPE_ERRORS as error:
        return Problem(f"cannot be replayed: {type(error).__name__}: {error}")


def _flat(outcomes: Iterable[list[Outcome]]) -> list[Outcome]:
    return [outcome for listed in outcomes for outcome in listed]
