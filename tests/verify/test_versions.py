"""Recorded answers of the other minor versions are given again, and every declared difference decides some of them.

Those of 1.36 that are not about a difference lie in the folder above, and `test_golden.py` gives them again.

Tests: scheduler/versions/*.py
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from seatrial.scheduler.config.gates import SIMULATED
from seatrial.scheduler.versions import VERSIONS, Rules, Version
from seatrial.verify.cases import Case, read_cases
from seatrial.verify.golden import difference_of

GOLDEN = Path(__file__).parents[1] / "golden" / "kube-scheduler"
RECORDED = [minor for minor in VERSIONS if (GOLDEN / minor).is_dir()]
FEWEST = 250
RECORD = ("plugins", "missing_plugins", "missing_points", "idle_points", "group_points", "missing_arguments")
"""Fields of a record, besides its rules, whose value another version can lend it."""
ELSEWHERE = {
    "NominatedNodeNameForExpectation": "it is about writes during binding, which a recorded cycle does not have",
    "OpportunisticBatching": "it is about the cycles of equal pods in a queue",
    "retries_on_taints": "it is about the queue; a whole run of 1.37 shows it",
    "DRADeviceTaintRules": "the oracle reads no rules",
    "hints_see_both_sides": "it is about the queue; a table of hints and whole runs show it",
    "hints_need_one_term": "the same",
    "relates_preemptors": "it is about an event, which a recorded cycle does not have",
    "DRAExtendedResource-True": "the oracle refuses classes with an extendedResourceName where the gate is on",
}
"""Rules and gates that differ and which no recorded case can show; whole runs beside real schedulers judge them."""
WITHOUT_EFFECT = {
    "1.34-missing_drivers_opt_in": "its gate VolumeLimitScaling is not there yet",
    "1.34-scores_allocated_claims": "DynamicResources has no score",
    "1.34-DRADeviceBindingConditions": "its argument is not there yet, and the oracle refuses such devices",
    "1.34-DRAPartitionableDevices": "counters of one slice only, which are not simulated",
    "1.34-NodeDeclaredFeatures": "the plugin is not there yet",
    "1.37-InPlacePodLevelResourcesVerticalScaling": "no case is recorded; 1.34 has one (a pod-level resize)",
}
"""What decides nothing in a version, or no case of it."""


@cache
def cases(minor: str) -> tuple[Case, ...]:
    files = sorted(
        (GOLDEN / minor).glob("*.jsonl.xz"), key=lambda file: (not file.name.startswith("differences"), file)
    )
    files += [GOLDEN / "configuration.jsonl.xz"] if minor == "1.36" else []
    return tuple(case for file in files for case in read_cases(file) if isinstance(case, Case))


@pytest.mark.parametrize("minor", RECORDED)
def test_recorded_answers_of_a_version_are_given_again(minor: str) -> None:
    differing = {case.name: found for case in cases(minor) if (found := difference_of(case)) is not None}
    assert not differing
    assert len(cases(minor)) >= (FEWEST if minor != "1.36" else 63)
    assert {case.expected["kubernetes"] for case in cases(minor)} == {VERSIONS[minor].release}


def mutants() -> Iterator[Any]:
    """Each version with one rule, or one field of its record, as another version has it."""
    for minor in RECORDED:
        version = VERSIONS[minor]
        for name in (field.name for field in fields(Rules)):
            if name in ELSEWHERE or f"{minor}-{name}" in WITHOUT_EFFECT:
                continue
            own = getattr(version.rules, name)
            for other in dict.fromkeys(getattr(each.rules, name) for each in VERSIONS.values()):
                if other != own:
                    mutant = replace(version, rules=replace(version.rules, **{name: other}))
                    yield pytest.param(minor, mutant, id=f"{minor}-{name}-{other}")
        for name in RECORD:
            other = next((getattr(each, name) for each in VERSIONS.values() if _differs(each, version, name)), None)
            if other is not None:
                yield pytest.param(minor, replace(version, **{name: other}), id=f"{minor}-{name}")


def gate_mutants() -> Iterator[Any]:
    """Each version with one simulated gate in the state that another version has it in by default."""
    for minor in RECORDED:
        version = VERSIONS[minor]
        for gate in sorted(SIMULATED):
            on = version.defaults.get(gate, True)
            differs = any(each.defaults.get(gate, True) != on for each in VERSIONS.values())
            if differs and not {gate, f"{gate}-{on}", f"{minor}-{gate}"} & {*ELSEWHERE, *WITHOUT_EFFECT}:
                others = {
                    state: " ".join(name for name in names.split() if name != gate)
                    for state, names in version.gates_by_state.items()
                }
                state = f"{'off' if on else 'on'} Beta"
                gates = {**others, state: f"{others.get(state, '')} {gate}"}
                yield pytest.param(minor, replace(version, gates_by_state=gates), id=f"{minor}-{gate}")


def _differs(one: Version, other: Version, field: str) -> bool:
    return bool(getattr(one, field) != getattr(other, field))


@pytest.mark.parametrize(("minor", "mutant"), [*mutants(), *gate_mutants()])
def test_a_case_fails_without_a_declared_difference(minor: str, mutant: Version) -> None:
    assert any(difference_of(case, mutant) is not None for case in cases(minor))
