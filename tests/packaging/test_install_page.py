"""The commands of docs/install.md, run from the built packages in a bare environment outside the repository."""

import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from tests.scripts import load_script

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "install.md"
MARK = "<!-- tested by: tests/packaging/test_install_page.py -->"
VERSION = str(load_script("release_check").version())
pytestmark = pytest.mark.release


def commands(page: Path = PAGE) -> list[str]:
    """The commands of a page that are run here, in their order."""
    blocks = re.findall(rf"{MARK}\n```console\n(.*?)```", page.read_text(), re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]


class Shell:
    """A folder outside the repository, with a PATH that has no seatrial but the one that is installed there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        hidden = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONPYCACHEPREFIX")
        self.environment = {key: value for key, value in os.environ.items() if key not in hidden}
        self.environment["PATH"] = f"{folder}/seatrial-env/bin:{os.environ['PATH']}"

    def __call__(self, command: str) -> str:
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    @contextmanager
    def serve(self, command: str) -> Iterator[None]:
        """A server that is ready; it ends well at SIGTERM."""
        with subprocess.Popen(
            command.removesuffix("&").split(), cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert any(line.startswith("ready: ") for line in process.stdout)
            try:
                yield
            finally:
                process.send_signal(signal.SIGTERM)
                assert process.wait(timeout=20) == 0


def test_other_pages_show_commands_of_this_one() -> None:
    """Of docs/index.md, docs/kernel.md and README.md, so that what they show is run as well."""
    for page in ("docs/index.md", "docs/kernel.md", "README.md"):
        shown = commands(ROOT / page)
        assert shown and set(shown) <= set(commands()), page


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory, kubectl: Path) -> Shell:
    """A folder with dist/: the packages of SEATRIAL_DIST, or else built here; kubectl is on its PATH."""
    if shutil.which("cargo") is None:
        pytest.skip("no cargo: the wheel of seatrial[fast] cannot be built")
    folder = tmp_path_factory.mktemp("reader")
    if ready := os.environ.get("SEATRIAL_DIST"):
        shutil.copytree(ready, folder / "dist")
    else:
        load_script("build_packages").build(folder / "dist")
    assert ROOT not in folder.parents
    shell = Shell(folder)
    shell.environment["PATH"] += f"{os.pathsep}{kubectl.parent}"
    return shell


def test_the_commands_of_the_page_work_from_the_wheel(shell: Shell) -> None:
    said: dict[str, str] = {}
    with ExitStack() as servers:
        for command in commands():
            if command.startswith("python3 -m venv"):
                said[command] = shell(command.replace("python3", sys.executable, 1))
            elif command.endswith("&"):
                servers.enter_context(shell.serve(command))
            else:
                said[command] = shell(command)
    assert shell("which seatrial").startswith(str(shell.folder))
    assert "Insufficient cpu" in said["seatrial explain seatrial-out/first-steps big"]
    assert "kube-system" in said["kubectl --kubeconfig cluster/kubeconfig get namespaces"]
    assert "6 nodes could be" in next(text for line, text in said.items() if line.startswith("seatrial compare"))
    assert "kernel" in said["seatrial --version"]
    for notebook in (shell.folder / "notebooks").iterdir():
        assert '"text/html"' in notebook.read_text(), notebook
    assert len(list((shell.folder / "notebooks").glob("*.ipynb"))) == 3


def names_over_http(kubeconfig: Path) -> list[str]:
    """Names of namespaces, read by a plain HTTP client."""
    found = yaml.safe_load(kubeconfig.read_text())
    cluster, user = found["clusters"][0]["cluster"], found["users"][0]["user"]
    request = urllib.request.Request(f"{cluster['server']}/api/v1/namespaces")
    request.add_header("Authorization", f"Bearer {user['token']}")
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with urllib.request.urlopen(request, context=context) as answer:
        return [item["metadata"]["name"] for item in json.load(answer)["items"]]


def test_the_names_can_be_read_without_kubectl(shell: Shell) -> None:
    with shell.serve("seatrial serve --port 0 --data-dir other &"):
        assert "kube-system" in names_over_http(shell.folder / "other" / "kubeconfig")


def test_the_wheel_has_metadata_and_examples(shell: Shell) -> None:
    (wheel,) = (shell.folder / "dist").glob("seatrial-*.whl")
    metadata = shell(f"unzip -p {wheel} '*.dist-info/METADATA'")
    for header in ("Author: ", "Keywords: ", "Classifier: ", "Project-URL: ", "License-Expression: Apache-2.0"):
        assert re.search(f"^{header}", metadata, re.MULTILINE), header
    shipped = shell(f"unzip -l {wheel}")
    examples = list((ROOT / "examples").rglob("scenario.yaml"))
    assert examples
    for path in examples:
        assert f"seatrial/examples/{path.relative_to(ROOT / 'examples')}" in shipped


def test_the_sdist_installs_as_well(shell: Shell) -> None:
    archive = shell.folder / "dist" / f"seatrial-{VERSION}.tar.gz"
    shell(f"{sys.executable} -m venv from-source && from-source/bin/pip install --quiet {archive}")
    assert VERSION in shell("from-source/bin/seatrial --version")
    assert "written begun/scenario.yaml" in shell("from-source/bin/seatrial init begun")


def test_the_bill_of_materials_has_what_the_wheel_needs(shell: Shell) -> None:
    bill = json.loads((shell.folder / "dist" / f"seatrial-{VERSION}.cdx.json").read_text())
    assert (bill["bomFormat"], bill["metadata"]["component"]["version"]) == ("CycloneDX", VERSION)
    listed = {component["name"] for component in bill["components"]}
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {Requirement(each).name for each in needed} <= listed
    assert "pytest" not in listed
    assert all(component["version"] and component["purl"] for component in bill["components"])
