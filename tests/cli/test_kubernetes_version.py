"""`--kubernetes-version`: sides of a comparison, the version of a snapshot's nodes, and versions that are not known."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seatrial.cli.main import build
from seatrial.cli.options.scheduler import chosen_version
from seatrial.model.errors import ConfigError
from seatrial.scheduler.versions import DEFAULT
from seatrial.store.snapshots import Snapshot


def nodes(*versions: str) -> Snapshot:
    infos = [{"nodeInfo": {"kubeletVersion": version}} for version in versions]
    return Snapshot([{"kind": "Node", "metadata": {"name": str(n)}, "status": each} for n, each in enumerate(infos)])


def test_a_patch_version_is_mapped_with_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    assert chosen_version("v1.35.1-gke.7") == "1.35"
    assert "v1.35.4" in capsys.readouterr().err
    assert chosen_version("1.35") == "1.35"
    assert not capsys.readouterr().err


def test_the_version_of_a_snapshots_nodes_decides(capsys: pytest.CaptureFixture[str]) -> None:
    assert chosen_version("", nodes("v1.35.2", "v1.35.4")) == "1.35"
    assert "the nodes of the snapshot run v1.35" in capsys.readouterr().err
    assert chosen_version("", nodes("v1.35.2", "v1.37.0")) == DEFAULT.minor
    assert chosen_version("1.34", nodes("v1.35.2")) == "1.34"


def test_an_unsupported_version_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"expected one of 1\.34, 1\.35, 1\.36, 1\.37, got '1\.20'"):
        chosen_version("1.20")


def test_versions_of_kube_scheduler_are_sides_and_the_plugin_that_moves_pods_is_named(tmp_path: Path) -> None:
    scenario = Path(__file__).parents[2] / "examples" / "upgrade" / "scenario.yaml"
    versions = ["--kubernetes-version", "1.35", "--kubernetes-version", "1.37"]
    result = CliRunner().invoke(build(), ["compare", "--scenario", str(scenario), *versions, "--out", str(tmp_path)])
    assert result.exit_code == 0
    assert "v1.37 against v1.35" in result.output
    assert "default/web-4: general-0 → compute-0" in result.output
    assert "NodeResourcesBalancedAllocation now prefers" in " ".join(result.output.split())


def test_what_if_takes_the_version_of_the_nodes_or_of_the_option(tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1"},
        "status": {"nodeInfo": {"kubeletVersion": "v1.35.2"}, "allocatable": {"cpu": "4", "pods": "10"}},
    }
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node]}))
    asked = ["what-if", "drain", "n1", "--snapshot", str(file)]
    by_nodes = CliRunner().invoke(build(), asked)
    assert "the nodes of the snapshot run v1.35: kube-scheduler v1.35.4 decides" in by_nodes.stderr
    refused = CliRunner().invoke(build(), [*asked, "--kubernetes-version", "1.20"])
    assert isinstance(refused.exception, ConfigError)
