"""Recorded sessions of another version of Volcano are given again, and every declared rule decides some of them.

Tests: volcano/versions/*.py
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from seatrial.verify import volcano
from seatrial.verify.cases import Case, read_cases
from seatrial.verify.volcano import volcano_difference
from seatrial.volcano.versions import DEFAULT, VERSIONS, Rules, Version

GOLDEN = Path(__file__).parents[1] / "golden" / "volcano"
RECORDED = [version for version in VERSIONS if version is not DEFAULT]
FEWEST = 100
ELSEWHERE = {
    "tells_extenders_of_jobs_let_in": "nothing is decided by what an extender answers to it",
    "scores_claims": "the oracle reads no resource claims",
}
"""Rules that no recorded session can show."""


@cache
def cases(minor: str) -> tuple[Case, ...]:
    files = sorted((GOLDEN / minor).glob("*.jsonl.xz"))
    return tuple(case for file in files for case in read_cases(file) if isinstance(case, Case))


@pytest.mark.parametrize("version", RECORDED, ids=lambda version: version.minor)
def test_recorded_sessions_of_a_version_are_given_again(version: Version) -> None:
    found = {case.name: volcano_difference(case.input, case.expected) for case in cases(version.minor)}
    assert not {name: difference for name, difference in found.items() if difference}
    assert len(found) >= FEWEST
    assert {case.input["version"] for case in cases(version.minor)} == {version.minor}


def mutants() -> Iterator[Any]:
    """Each version with one rule, or the version of Kubernetes, as the newest version has it."""
    for version in RECORDED:
        for name in (field.name for field in fields(Rules)):
            newest = getattr(DEFAULT.rules, name)
            if name not in ELSEWHERE and getattr(version.rules, name) != newest:
                mutant = replace(version, rules=replace(version.rules, **{name: newest}))
                yield pytest.param(mutant, id=f"{version.minor}-{name}")
        yield pytest.param(replace(version, kubernetes=DEFAULT.kubernetes), id=f"{version.minor}-kubernetes")


@pytest.mark.parametrize("mutant", list(mutants()))
def test_a_session_differs_without_a_declared_rule(mutant: Version, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volcano, "find_version", lambda _: mutant)
    assert any(volcano_difference(case.input, case.expected) for case in cases(mutant.minor))
