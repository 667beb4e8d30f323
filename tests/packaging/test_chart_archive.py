"""The archive of the Helm chart: helm installs it into a cluster as docs/install.md shows, from a folder of its own."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs.blocks import blocks
from tests.outside.conftest import built
from tests.outside.processes import Kubectl, Serve
from tests.scripts import load_script

pytestmark = pytest.mark.release
MARK = "tested by: tests/packaging/test_chart_archive.py"


@pytest.fixture
def reader(tmp_path: Path) -> Path:
    """A folder with the archive of SEATRIAL_DIST, or else one that is made here, in dist/."""
    (tmp_path / "dist").mkdir()
    script = load_script("release_check")
    if ready := os.environ.get("SEATRIAL_DIST"):
        shutil.copy(Path(ready) / f"seatrial-operator-{script.version()}.tar.gz", tmp_path / "dist")
    else:
        script.archive_chart(tmp_path / "dist")
    return tmp_path


def test_helm_installs_the_chart_with_its_definitions(reader: Path, kubectl: Path) -> None:
    helm = built("helm") / "helm"
    (shown,) = (block.text for block in blocks("docs/install.md") if block.mark == MARK)
    with Serve(reader / "state", "--no-scheduler", "--controllers", "") as server:
        command = [str(helm), *shlex.split(shown.removeprefix("$ helm "))]
        environment = os.environ | {"HOME": str(reader), "KUBECONFIG": str(server.kubeconfig)}
        done = subprocess.run(command, cwd=reader, capture_output=True, text=True, timeout=120, env=environment)
        assert done.returncode == 0, done.stderr
        ask = Kubectl(kubectl, server.kubeconfig, reader)
        found = ask("get", "deployments,serviceaccounts", "--namespace", "seatrial-system", "-o", "name").split()
        assert {"deployment.apps/seatrial-operator", "serviceaccount/seatrial-operator"} <= set(found)
        assert ask("get", "schedulersimulations,simulators", "-A") == ""
