"""Recorded answers of kube-scheduler v1.36.3 to configurations: errors, written files, resolved profiles.

Tests: scheduler/config/*.py, scheduler/plugins/*/arguments.py
"""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from seatrial.scheduler.config import Configuration, ConfigurationError, load_configuration
from seatrial.scheduler.config.writing import expanded_document, write_config
from seatrial.scheduler.versions import VERSIONS
from tests.proofs import proves

SHARED = Path(os.environ.get("SEATRIAL_SHARED", Path(__file__).parents[4] / "shared"))
CASES = sorted(
    path
    for family in ("config", "configuration")
    for path in (SHARED / "golden" / "kube-scheduler" / family).glob("*.json.gz")
)
pytestmark = pytest.mark.skipif(not CASES, reason="no recorded answers (SEATRIAL_SHARED)")


def recorded(path: Path) -> tuple[Any, Any, Any]:
    case = json.loads(gzip.decompress(path.read_bytes()))
    return case["input"]["config"], case["input"].get("featureGates"), case["expected"]


def loaded_from(config: Any, gates: Any = None) -> Configuration:
    return load_configuration(config, versions="upstream", gates=gates, version=VERSIONS["1.36"])


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_a_configuration_is_judged_written_and_resolved_as_recorded(path: Path) -> None:
    config, gates, expected = recorded(path)
    if "configError" in expected:
        with pytest.raises(ConfigurationError) as refusal:
            loaded_from(config, gates)
        assert refusal.value.stage == expected["configError"]["stage"]
        assert refusal.value.message == expected["configError"]["message"]
        return
    loaded = loaded_from(config, gates)
    assert write_config(loaded) == expected["writeConfig"]
    assert [profile.resolved() for profile in loaded.profiles] == expected["profiles"]


@proves("MP-037", "MP-040")
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_an_expanded_configuration_means_the_same_and_expands_to_itself(path: Path) -> None:
    """What is written down round-trips."""
    config, gates, expected = recorded(path)
    if "configError" in expected:
        return
    loaded = loaded_from(config, gates)
    expanded = expanded_document(loaded)
    again = loaded_from(expanded, gates)
    for before, after in zip(loaded.profiles, again.profiles, strict=True):
        for point in set(before.plugins) - {"placementGenerate", "placementScore"}:
            assert before.plugins[point] == after.plugins[point]
    assert expanded_document(again) == expanded
    assert write_config(loaded_from(write_config(loaded))) == write_config(loaded)
