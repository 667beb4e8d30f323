"""The Helm chart, linted and rendered by helm itself: the defaults give the manifests, values reach their places."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from seatrial.operator import IMAGE, definitions, deployment, permissions
from tests.outside.conftest import built

CHART = Path(__file__).parents[2] / "deploy" / "helm" / "seatrial-operator"


@pytest.fixture(scope="module")
def helm() -> Path:
    return built("helm") / "helm"


def rendered(helm: Path, *options: str, values: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """What helm would install into the namespace `there`."""
    command = [str(helm), "template", "seatrial", str(CHART), "--namespace", "there", "--values", "-", *options]
    done = subprocess.run(command, input=json.dumps(values or {}), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def test_helm_finds_nothing_wrong(helm: Path) -> None:
    done = subprocess.run([str(helm), "lint", "--strict", str(CHART)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 chart(s) failed" in done.stdout


def test_the_default_values_give_the_manifests(helm: Path) -> None:
    wanted = [deployment(IMAGE, "there"), *permissions("there"), *definitions()]
    assert sorted(rendered(helm, "--include-crds"), key=str) == sorted(wanted, key=str)


def test_the_values_place_the_operator_and_close_its_network(helm: Path) -> None:
    chosen = {
        "image": "registry.example/seatrial:1",
        "imagePullSecrets": [{"name": "registry"}],
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "podLabels": {"team": "a"},
        "podAnnotations": {"note": "b"},
        "resources": {"limits": {"cpu": "1"}},
        "networkPolicy": {"enabled": True},
        "serviceAccount": {"create": False, "name": "mine"},
        "arguments": ["--namespace=team-a"],
        "metrics": {"enabled": True, "port": 9100},
    }
    assert set(chosen) == set(yaml.safe_load((CHART / "values.yaml").read_text()))
    found = {each["kind"]: each for each in rendered(helm, values=chosen)}
    pod = found["Deployment"]["spec"]["template"]
    assert pod["metadata"]["labels"]["team"] == "a" and pod["metadata"]["annotations"] == {"note": "b"}
    for name in ("imagePullSecrets", "nodeSelector", "tolerations", "affinity"):
        assert pod["spec"][name] == chosen[name]
    assert pod["spec"]["serviceAccountName"] == "mine"
    (container,) = pod["spec"]["containers"]
    assert container["resources"]["limits"]["cpu"] == "1"
    assert container["image"] == chosen["image"] and f"--image={chosen['image']}" in container["args"]
    assert container["args"][-2:] == ["--metrics-port=9100", "--namespace=team-a"]
    assert container["ports"] == [{"name": "metrics", "containerPort": 9100}]
    assert [rule["ports"][0]["port"] for rule in found["NetworkPolicy"]["spec"]["ingress"]] == [8080, 9100]
    assert found["ClusterRoleBinding"]["subjects"][0]["name"] == "mine"
    assert "ServiceAccount" not in found and "NetworkPolicy" in found
