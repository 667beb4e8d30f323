"""The manifests and `deploy/`; the image is the subject of tests/packaging/test_image.py."""

import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from typer.core import TyperGroup
from typer.main import get_command

from seatrial.cli.main import build
from seatrial.operator.deployment_manifests import deployment, manifests
from seatrial.operator.kinds import IMAGE
from tests.known_kinds import known_kind
from tests.operator.kubelet import SEATRIAL
from tests.scripts import load_script
from tests.server.client import Server

ROOT = Path(__file__).parents[2]


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


def test_kustomize_and_the_definitions_of_the_chart_are_the_manifests() -> None:
    """The templates of the chart are compared by tests/outside/test_chart.py."""
    base = ROOT / "deploy" / "kustomize"
    names = yaml.safe_load((base / "kustomization.yaml").read_text())["resources"]
    based = [each for name in names for each in yaml.safe_load_all((base / name).read_text())]
    chart = yaml.safe_load_all((ROOT / "deploy/helm/seatrial-operator/crds/definitions.yaml").read_text())

    def by_name(documents: Iterable[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
        return {(each["kind"], each["metadata"]["name"]): each for each in documents if each["kind"] != "Namespace"}

    wanted = by_name(manifests(IMAGE, "seatrial-system"))
    assert by_name(based) == wanted
    assert by_name(chart) == {key: each for key, each in wanted.items() if key[0] == "CustomResourceDefinition"}
