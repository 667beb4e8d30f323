"""The files, and parts of files, that the documentation shows as YAML are read as the program reads them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from seatrial.operator.kinds import SchedulerSimulation, SimulatorSpec
from seatrial.outside import read_outside
from seatrial.scenario.autoscaler import NodeGroup
from seatrial.scenario.spec.kind import ScenarioSpec
from seatrial.sweeps.spec import read_sweep
from seatrial.vcsim.kinds import SimulatorCluster, SimulatorJob
from tests.docs.blocks import blocks


def has(kind: Any, part: str = "") -> Callable[[Path], None]:
    """Reads the file, or what it has under a key, as this kind; a field that the kind lacks is an error."""

    def read(path: Path) -> None:
        document = yaml.safe_load(path.read_text())
        msgspec.convert(document[part] if part else document, kind)

    return read


READERS: dict[str, list[Callable[[Path], Any]]] = {
    "docs/controllers.md": [has(NodeGroup)],
    "docs/operator.md": [has(SchedulerSimulation), has(SimulatorSpec, "simulatorSpec")],
    "docs/outside.md": [lambda path: read_outside([str(path)])],
    "docs/sweep.md": [read_sweep],
    "docs/vcsimctl.md": [has(SimulatorCluster), has(SimulatorJob)],
    "docs/volcano.md": [has(ScenarioSpec, "spec")],
}
"""What reads each block of a page, in order."""


@pytest.mark.parametrize("page", READERS)
def test_the_yaml_of_a_page_is_read(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kube-scheduler").touch(mode=0o755)  # named in docs/outside.md
    shown = [block for block in blocks(page) if block.language == "yaml"]
    for block, read in zip(shown, READERS[page], strict=True):
        path = tmp_path / "shown.yaml"
        path.write_text(block.text)
        read(path)


def test_a_field_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "shown.yaml"
    path.write_text("spec: {controlers: {}}")
    with pytest.raises(msgspec.ValidationError, match="controlers"):
        has(ScenarioSpec, "spec")(path)
