"""Karpenter with its kwok provider makes nodes for pods that wait, and removes them when they are empty."""

from pathlib import Path

import pytest

from tests.outside.conftest import built as kubernetes
from tests.outside.objects import deployment
from tests.outside.processes import Kubectl, Serve, free_port
from tests.outside.zoo.karpenter import ENVIRONMENT, node_class, node_pool
from tests.outside.zoo.modules import files_of
from tests.outside.zoo.programs import Running, as_service_account
from tests.outside.zoo.test_helm import Helm

SYSTEM = "kube-system"


def install(kubectl: Kubectl, helm: Helm) -> None:
    """Install the definitions with kubectl and the rest with helm, as its Makefile does."""
    files = files_of("karpenter")
    for verb in (("create",), ("apply", "--server-side", "--force-conflicts")):
        for folder in ("kwok/charts/crds", "kwok/apis/crds"):
            kubectl(*verb, "-f", str(files / folder))
    helm("install", "karpenter", str(files / "kwok/charts"), "--skip-crds", "--set", "replicas=0")


@pytest.mark.outside
@pytest.mark.long
def test_nodes_come_and_go_with_the_pods_on_serve(tmp_path: Path) -> None:
    with Serve(tmp_path / "state") as serve:
        kubectl = Kubectl(kubernetes("kubectl") / "kubectl", serve.kubeconfig, tmp_path)
        install(kubectl, Helm(serve.kubeconfig, tmp_path))
        account = as_service_account(kubectl, SYSTEM, "karpenter", tmp_path / "account")
        ports = {name: str(free_port()) for name in ("METRICS_PORT", "HEALTH_PROBE_PORT")}
        with Running("karpenter", kubeconfig=account, log=tmp_path / "log", environment=ENVIRONMENT | ports) as program:
            web = deployment("web", 3)
            web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
            kubectl.create(node_class(), node_pool(), web)
            ready = ("get", "deployment", "web", "-o", "jsonpath={.status.readyReplicas}")
            program.until(kubectl, "3", *ready)
            claims = kubectl.json("get", "nodeclaims")["items"]
            nodes = kubectl.json("get", "nodes")["items"]
            assert sorted(claim["status"]["nodeName"] for claim in claims) == [
                each["metadata"]["name"] for each in nodes
            ]
            assert nodes
            kubectl("scale", "deployment", "web", "--replicas=0")
            program.until(kubectl, "", "get", "nodes,nodeclaims", "-o", "name")
