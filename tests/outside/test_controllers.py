"""The recordings in tests/golden/controllers are what kube-controller-manager v1.36.3 does against `seatrial serve`."""

import importlib.util
import json
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from tests.controllers.manifests import GOLDEN, load_manifest

SCRIPT = Path(__file__).parents[2] / "scripts" / "record_controllers.py"


@pytest.fixture(scope="module")
def recorder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("record_controllers", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["deployment-rollout", "statefulset-partition", "job-indexed", "claim-prebound"])
def test_a_recording_can_be_made_again(recorder: ModuleType, name: str) -> None:
    try:
        programs = recorder.ensure(("kube-controller-manager",))
    except (SystemExit, subprocess.CalledProcessError) as error:
        pytest.skip(f"kube-controller-manager cannot be built: {error}")
    manifest = load_manifest(GOLDEN / "manifests" / f"{name}.yaml")
    assert recorder.record(manifest, programs) == json.loads(manifest.golden.read_text())
