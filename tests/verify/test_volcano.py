"""Every recorded session of Volcano is given again: decisions, phases, events, queue metrics and the probe.

Tests: volcano/actions/*.py, volcano/plugins/*.py, volcano/cache/*.py, volcano/framework/*.py, volcano/cycle.py
Tests: verify/volcano_*.py
"""

from copy import deepcopy
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seatrial.cli.main import build
from seatrial.verify.cases import Case, read_cases
from seatrial.verify.volcano import replay_volcano, volcano_difference

GOLDEN = Path(__file__).parents[1] / "golden" / "volcano"
CASES = [case for path in sorted(GOLDEN.glob("*.jsonl.xz")) for case in read_cases(path) if isinstance(case, Case)]
FAMILIES = sorted({case.input["family"] for case in CASES})
PLUGINS = ("volumes", "vgpu", "mig", "gpucards", "usage", "rescheduling", "pdb", "numa", "extender", "nettopo")


def of(family: str) -> list[Case]:
    return [case for case in CASES if case.input["family"] == family]


@pytest.mark.parametrize("family", FAMILIES)
def test_recorded_sessions_are_given_again(family: str) -> None:
    found = {case.name: volcano_difference(case.input, case.expected) for case in of(family)}
    assert not {name: difference for name, difference in found.items() if difference}


def test_all_recorded_sessions_are_here() -> None:
    """213 with the dice taken out, and more of a Volcano that threw them, where they made no difference.

    The plugin sessions are of a Volcano that takes the lowest name among equal nodes and searches one after the other.
    """
    assert sum(1 for _ in read_cases(GOLDEN / "sessions.jsonl.xz")) == 213
    assert sum(1 for _ in read_cases(GOLDEN / "more-sessions.jsonl.xz")) == 218
    assert sum(1 for _ in read_cases(GOLDEN / "plugin-sessions.jsonl.xz")) == 178
    assert sum(1 for _ in read_cases(GOLDEN / "csi-sessions.jsonl.xz")) == 33
    assert sum(1 for _ in read_cases(GOLDEN / "hard-sessions.jsonl.xz")) == 157
    for plugin in PLUGINS:
        assert sum(1 for _ in read_cases(GOLDEN / f"{plugin}-sessions.jsonl.xz")) >= 40, plugin
    assert {"csi", "pdb", "usage", "rescheduling", "numaaware", "deviceshare", "volumes", "many_nodes"} <= set(FAMILIES)


@pytest.mark.parametrize("family", ["gang_basic", "predicates", "nodeorder", "binpack", "preempt", "nettopo", "hard"])
def test_kept_columns_give_the_same_session_as_plain_ones(family: str) -> None:
    for case in of(family):
        assert replay_volcano(case.input, keeps_columns=False) == replay_volcano(case.input, keeps_columns=True)


def test_a_node_offers_the_volumes_that_its_csi_node_names() -> None:
    """The recorded nodes carry what real Volcano puts there when it reads a CSINode."""
    for case in of("csi"):
        bare = deepcopy(case.input)
        for node in bare["nodes"]:
            for part in ("allocatable", "capacity"):
                amounts = node["status"][part].items()
                node["status"][part] = {name: amount for name, amount in amounts if "attachable-volumes" not in name}
        assert replay_volcano(bare) == replay_volcano(case.input)


def test_a_different_bind_is_found() -> None:
    case = next(case for case in CASES if case.expected["cycles"][0]["binds"])
    expected = deepcopy(case.expected)
    pod = next(iter(expected["cycles"][0]["binds"]))
    expected["cycles"][0]["binds"][pod] = "elsewhere"
    assert "elsewhere" in (volcano_difference(case.input, expected) or "")


def test_verify_golden_reads_sessions_of_volcano(tmp_path: Path) -> None:
    (tmp_path / "sessions.jsonl.xz").write_bytes((GOLDEN / "sessions.jsonl.xz").read_bytes())
    result = CliRunner().invoke(build(), ["verify", "golden", str(tmp_path)])
    assert result.output.splitlines()[-1] == "213 of 213 cases equal"
