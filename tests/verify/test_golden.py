"""Every recorded answer of kube-scheduler v1.36.3 is given again, field by field.

Tests: scheduler/plugins/*.py, scheduler/preemption/*.py, scheduler/schedule_one/*.py, scheduler/dra/*.py
Tests: scheduler/volumes/*.py, scheduler/framework/scoring.py, scheduler/framework/filtering.py
Tests: scheduler/framework/status.py, verify/attempts.py, verify/recorded_cluster.py
"""

from pathlib import Path

import pytest

from seatrial.verify.cases import Case, read_cases
from seatrial.verify.replay import difference

GOLDEN = Path(__file__).parents[1] / "golden" / "kube-scheduler"
FAMILIES = sorted(GOLDEN.glob("*.jsonl.xz"))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda path: path.name.split(".")[0])
def test_recorded_answers_are_given_again(family: Path) -> None:
    differing = {
        case.name: found
        for case in read_cases(family)
        if isinstance(case, Case) and (found := difference(case)) is not None
    }
    assert not differing


def test_all_687_recorded_cases_are_here() -> None:
    assert sum(1 for family in FAMILIES for _ in read_cases(family)) == 687
