"""The records of versions beside their real programs: the default configuration, the gates, and their refusals."""

import re
import subprocess
from pathlib import Path

import pytest

from seatrial.model.errors import ConfigError
from seatrial.scheduler.config import effective_gates, load_configuration, write_config
from seatrial.scheduler.config.files import read_configuration
from seatrial.scheduler.versions import VERSIONS, Version
from tests.outside.conftest import built

LISTED = re.compile(r"^\s*(?:kube:)?(\w+)=true\|false \((ALPHA|BETA) - default=(true|false)\)", re.M)
"""A gate in --help; the rest of the line may have what holds with another --min-compatibility-version."""
LOCKED = re.compile(r"cannot set feature gate \w+ to \w+, feature is locked to \w+")
NOWHERE = ("--master", "http://127.0.0.1:9")
FILE = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
podMaxBackoffSeconds: 20
profiles:
  - schedulerName: packing
    plugins: {multiPoint: {disabled: [{name: ImageLocality}]}}
    pluginConfig:
      - {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}
  - schedulerName: plain
"""


@pytest.fixture(scope="module", params=VERSIONS)
def version(request: pytest.FixtureRequest) -> Version:
    return VERSIONS[request.param]


@pytest.fixture(scope="module")
def program(version: Version) -> Path:
    return built("kube-scheduler", version=version.release) / "kube-scheduler"


def said(program: Path, *flags: str) -> str:
    """What the program says before it ends."""
    done = subprocess.run([program, *flags], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


def written(program: Path, folder: Path, *flags: str) -> str:
    out = folder / "written.yaml"
    text = said(program, *NOWHERE, "--cert-dir", str(folder), "--write-config-to", str(out), *flags)
    assert out.exists(), text
    return out.read_text()


def test_the_default_configuration_is_the_one_the_program_writes(
    version: Version, program: Path, tmp_path: Path
) -> None:
    assert write_config(load_configuration(None, version=version)) == written(program, tmp_path)


def test_a_file_is_written_as_the_program_writes_it(version: Version, program: Path, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(FILE)
    ours = write_config(load_configuration(read_configuration(file), version=version))
    assert ours == written(program, tmp_path, "--config", str(file))


@pytest.mark.parametrize("gate", ["DRASchedulerFilterTimeout", "NodeDeclaredFeatures", "DynamicResourceAllocation"])
def test_a_gate_that_is_off_changes_what_is_written(version: Version, program: Path, tmp_path: Path, gate: str) -> None:
    known = version.gates.get(gate)
    if known is None or known.is_locked or not known.default:
        pytest.skip(f"{gate} cannot be switched off in {version.minor}")
    dependents = [name for name in version.dependents.get(gate, "").split() if version.defaults[name]]
    switched = dict.fromkeys((gate, *dependents), False)
    flag = ",".join(f"{name}=false" for name in switched)
    ours = write_config(load_configuration(None, gates=switched, version=version))
    assert ours == written(program, tmp_path, "--feature-gates", flag)


def test_alpha_and_beta_gates_have_the_defaults_the_program_lists(version: Version, program: Path) -> None:
    real = {(name, stage, default) for name, stage, default in LISTED.findall(said(program, "--help"))}
    ours = {
        (name, gate.stage.upper(), str(gate.default).lower())
        for name, gate in version.gates.items()
        if gate.stage in ("Alpha", "Beta")
    }
    assert ours == real


def test_locked_gates_are_refused_in_the_programs_words(version: Version, program: Path) -> None:
    locked = {name: not gate.default for name, gate in version.gates.items() if gate.is_locked}
    flag = ",".join(f"{name}={str(on).lower()}" for name, on in locked.items())
    real = set(LOCKED.findall(said(program, *NOWHERE, "--feature-gates", flag)))
    assert {refusal(version, {name: on}) for name, on in locked.items()} == real


def test_gates_that_are_not_locked_can_be_set(version: Version, program: Path, tmp_path: Path) -> None:
    free = {name: gate.default for name, gate in version.gates.items()}
    flag = ",".join(f"{name}={str(on).lower()}" for name, on in free.items() if not name.startswith("All"))
    assert written(program, tmp_path, "--feature-gates", flag)


def test_an_unknown_gate_is_refused_in_the_programs_words(version: Version, program: Path) -> None:
    unknown = next(
        (name for other in VERSIONS.values() for name in other.gates if name not in version.gates), "Nothing"
    )
    for name in (unknown, "NoSuchGate"):
        assert refusal(version, {name: True}) in said(program, *NOWHERE, "--feature-gates", f"{name}=true")


def refusal(version: Version, gates: dict[str, bool]) -> str:
    with pytest.raises(ConfigError) as raised:
        effective_gates(gates, version)
    return raised.value.why
