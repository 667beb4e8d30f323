"""The recordings in tests/golden/controllers are what kube-controller-manager v1.36.3 does against `seatrial serve`."""

import json
import subprocess
from types import ModuleType

import pytest

from tests.controllers.manifests import GOLDEN, load_manifest
from tests.scripts import load_script


@pytest.fixture(scope="module")
def recorder() -> ModuleType:
    return load_script("record_controllers")


@pytest.mark.parametrize("name", ["deployment-rollout", "statefulset-partition", "job-indexed", "claim-prebound"])
def test_a_recording_can_be_made_again(recorder: ModuleType, name: str) -> None:
    try:
        programs = recorder.ensure(("kube-controller-manager",))
    except (SystemExit, subprocess.CalledProcessError) as error:
        pytest.skip(f"kube-controller-manager cannot be built: {error}")
    manifest = load_manifest(GOLDEN / "manifests" / f"{name}.yaml")
    assert recorder.record(manifest, programs) == json.loads(manifest.golden.read_text())
