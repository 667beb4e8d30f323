"""kube-state-metrics shows the objects of `serve` as they are."""

import re
import urllib.request
from pathlib import Path

import pytest

from tests.outside.conftest import built as kubernetes
from tests.outside.objects import deployment, node
from tests.outside.processes import Kubectl, Serve, free_port, wait_until
from tests.outside.zoo.modules import files_of
from tests.outside.zoo.programs import Running, as_service_account, until


@pytest.mark.outside
@pytest.mark.long
def test_metrics_count_the_objects_of_serve(tmp_path: Path) -> None:
    manifests = str(files_of("kube-state-metrics") / "examples/standard")
    with Serve(tmp_path / "state") as serve:
        kubectl = Kubectl(kubernetes("kubectl") / "kubectl", serve.kubeconfig, tmp_path)
        kubectl("create", "-k", manifests)
        kubectl("apply", "--server-side", "--force-conflicts", "-k", manifests)
        kubectl.create(node("n1"), node("n2"), deployment("web", 3))
        ready = ("get", "deployment", "web", "-o", "jsonpath={.status.readyReplicas}")
        wait_until(lambda: kubectl(*ready) == "3", 60, "three pods run")
        account = as_service_account(kubectl, "kube-system", "kube-state-metrics", tmp_path / "account")
        ports = free_port(), free_port()
        flags = ("--kubeconfig", str(account), "--host", "127.0.0.1", "--telemetry-host", "127.0.0.1")
        both = ("--port", str(ports[0]), "--telemetry-port", str(ports[1]))
        with Running("kube-state-metrics", *flags, *both, kubeconfig=account, log=tmp_path / "log") as program:
            until(lambda: shown(ports[0]).get("kube_node_info") == 2, "two nodes are shown", program)
            until(
                lambda: shown(ports[0]).get('kube_pod_info{namespace="default"') == 3, "three pods are shown", program
            )
            page = text(ports[0])
            assert 'kube_deployment_status_replicas_available{namespace="default",deployment="web"} 3' in page
            assert len(re.findall(r'kube_pod_status_phase\{namespace="default",.*phase="Running"\} 1', page)) == 3
            failed = [line for line in program.log.splitlines() if "forbidden" in line or "failed to list" in line]
            assert failed == []


def text(port: int) -> str:
    """The page of metrics; empty while the program comes up."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            return str(answer.read().decode())
    except OSError:
        return ""


def shown(port: int) -> dict[str, int]:
    """How many samples there are of nodes, and of pods in the namespace default."""
    starts = ("kube_node_info", 'kube_pod_info{namespace="default"')
    lines = text(port).splitlines()
    return {start: sum(line.startswith(start) for line in lines) for start in starts}
