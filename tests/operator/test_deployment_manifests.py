"""The manifests, `deploy/` and the image."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.core import TyperGroup
from typer.main import get_command

from seatrial.cli.main import build
from seatrial.operator.deployment_manifests import deployment, manifests
from seatrial.operator.kinds import IMAGE
from seatrial.operator.pods import USER
from tests.known_kinds import known_kind
from tests.operator.kubelet import SEATRIAL
from tests.scripts import load_script
from tests.server.client import Server

ROOT = Path(__file__).parents[2]
CONTAINERFILE = ROOT / "deploy" / "Containerfile"


def printed(*flags: str) -> list[dict[str, Any]]:
    command = [*SEATRIAL, "operator", "manifests", *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return list(yaml.safe_load_all(done.stdout))


def test_deploy_is_fresh() -> None:
    assert load_script("write_deploy").stale() == [], "run scripts/write_deploy.py"


def test_the_command_prints_the_manifests() -> None:
    assert printed() == manifests(IMAGE, "seatrial-system")
    elsewhere = printed("--image", "mine/seatrial:1", "--namespace", "elsewhere")
    assert elsewhere[0]["metadata"]["name"] == "elsewhere"
    assert "--image=mine/seatrial:1" in elsewhere[-1]["spec"]["template"]["spec"]["containers"][0]["args"]


def test_an_api_server_takes_the_manifests() -> None:
    server = Server()
    for document in manifests(IMAGE, "seatrial-system"):
        kind = known_kind(server.store.kinds, document["apiVersion"], document["kind"])
        root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
        inside = f"/namespaces/{document['metadata']['namespace']}" if kind.namespaced else ""
        reply = server("POST", f"{root}{inside}/{kind.plural}?fieldValidation=Strict", document)
        assert reply.status == 201, reply.body


def test_the_deployment_calls_a_command_that_exists() -> None:
    arguments = deployment(IMAGE, "x")["spec"]["template"]["spec"]["containers"][0]["args"]
    program = get_command(build())
    assert isinstance(program, TyperGroup)
    command = program.commands[arguments[0]]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {argument.partition("=")[0] for argument in arguments[1:]} <= known


def test_kustomize_and_helm_hold_the_same_objects() -> None:
    chart = ROOT / "deploy" / "helm" / "seatrial-operator"
    values = yaml.safe_load((chart / "values.yaml").read_text())
    text = "---\n".join(
        path.read_text() for path in (chart / "crds" / "definitions.yaml", *sorted((chart / "templates").iterdir()))
    )
    text = re.sub(r"^ *\{\{- range.*?\{\{- end \}\}\n", "", text, flags=re.DOTALL | re.MULTILINE)
    text = text.replace("{{ .Values.image }}", values["image"]).replace("{{ .Release.Namespace }}", "seatrial-system")
    base = ROOT / "deploy" / "kustomize"
    names = yaml.safe_load((base / "kustomization.yaml").read_text())["resources"]
    based = [each for name in names for each in yaml.safe_load_all((base / name).read_text())]

    def by_name(documents: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
        return {(each["kind"], each["metadata"]["name"]): each for each in documents if each["kind"] != "Namespace"}

    assert by_name(list(yaml.safe_load_all(text))) == by_name(based) == by_name(manifests(IMAGE, "seatrial-system"))


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"^#.*\n", "", CONTAINERFILE.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in text.splitlines() if line.strip()]


def test_the_image_runs_as_an_unknown_user() -> None:
    listed = instructions()
    assert ("USER", f"{USER}:{USER}") in listed
    assert ("ENTRYPOINT", '["/opt/seatrial/bin/seatrial"]') in listed
    sources = [word for name, rest in listed if name == "COPY" and "--from" not in rest for word in rest.split()[:-1]]
    assert sources
    for source in sources:
        assert (ROOT / source).exists()


@pytest.mark.long
def test_what_the_image_installs_serves_all_roles(tmp_path: Path) -> None:
    """The RUN line of the Containerfile in a directory of its own: no daemon is needed for it."""
    for name, rest in instructions():
        if name == "COPY" and "--from" not in rest:
            for source in rest.split()[:-1]:
                copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
                copy(ROOT / source, tmp_path / Path(source).name)
    [run] = [rest for name, rest in instructions() if name == "RUN"]
    installed = tmp_path / "opt" / "seatrial"
    run = run.replace("/opt/", f"{tmp_path}/opt/").replace("python -m", f"{sys.executable} -m")
    subprocess.run(["sh", "-ec", run], cwd=tmp_path, check=True, timeout=600)
    shutil.rmtree(tmp_path / "src")
    for role in ("serve", "scenario-runner", "operator", "simulate"):
        command = [str(installed / "bin" / "seatrial"), role, "--help"]
        subprocess.run(command, check=True, timeout=60, env={"HOME": str(tmp_path)}, stdout=subprocess.DEVNULL)
    command = [str(installed / "bin" / "seatrial"), "operator", "--kubeconfig", "/absent"]
    done = subprocess.run(command, timeout=60, env={"HOME": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "/absent: --kubeconfig: no such file" in done.stderr
