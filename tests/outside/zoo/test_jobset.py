"""JobSet, with its webhooks: a set of two replicated jobs runs to its end, and a wrong one is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from seatrial.scenario.spec.kind import RUN_DURATION
from tests.outside.conftest import built as kubernetes
from tests.outside.objects import node
from tests.outside.processes import Kubectl, Serve
from tests.outside.zoo.modules import files_of
from tests.outside.zoo.programs import Running, as_service_account, until
from tests.outside.zoo.webhooks import endpoint, mount

SYSTEM = "jobset-system"


def job_set(name: str, replicas: dict[str, int], **spec: Any) -> dict[str, Any]:
    """A JobSet with a replicated job of two pods for each name."""
    container = {"name": "c", "image": "example.com/image", "resources": {"requests": {"cpu": "100m"}}}
    metadata = {"annotations": {RUN_DURATION: "1s"}}
    pod = {"metadata": metadata, "spec": {"restartPolicy": "Never", "containers": [container]}}
    job = {"spec": {"parallelism": 2, "completions": 2, "backoffLimit": 0, "template": pod}}
    jobs = [{"name": each, "replicas": count, "template": job} for each, count in replicas.items()]
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"replicatedJobs": jobs, **spec},
    }


@pytest.mark.outside
@pytest.mark.long
def test_a_set_of_jobs_runs_to_its_end_on_serve(tmp_path: Path) -> None:
    manifests = str(files_of("jobset") / "config/default")
    with Serve(tmp_path / "state") as serve:
        kubectl = Kubectl(kubernetes("kubectl") / "kubectl", serve.kubeconfig, tmp_path)
        kubectl("create", "-k", manifests)
        kubectl("apply", "--server-side", "--force-conflicts", "-k", manifests)
        kubectl("scale", "deployment", "--all", "--replicas=0", "--namespace", SYSTEM)
        kubectl.create(node("n1"), endpoint(SYSTEM, "jobset-webhook-service", 9443))
        account = as_service_account(kubectl, SYSTEM, "jobset-controller-manager", tmp_path / "account")
        flags = ("--leader-elect=false", "--metrics-bind-address=0", "--health-probe-bind-address=0")
        with Running("jobset", *flags, kubeconfig=account, log=tmp_path / "log") as program:
            mount(kubectl, SYSTEM, "jobset-webhook-server-cert")
            text = json.dumps(job_set("train", {"leader": 1, "worker": 2}))
            until(lambda: kubectl.run("create", "-f", "-", stdin=text).returncode == 0, "the JobSet is taken", program)
            shown = ("get", "jobset", "train", "-o", "jsonpath={.status.terminalState}")
            program.until(kubectl, "Completed", *shown)
            defaulted = kubectl.json("get", "jobset", "train")["spec"]
            assert defaulted["successPolicy"] == {"operator": "All"}  # by its webhook
            jobs = kubectl.json("get", "jobs")["items"]
            assert sorted(each["metadata"]["name"] for each in jobs) == [
                "train-leader-0",
                "train-worker-0",
                "train-worker-1",
            ]
            assert {each["status"]["succeeded"] for each in jobs} == {2}
            wrong = job_set("wrong", {"a": 1}, successPolicy={"operator": "All", "targetReplicatedJobs": ["b"]})
            refused = kubectl.run("create", "-f", "-", stdin=json.dumps(wrong))
            assert refused.returncode == 1
            assert 'admission webhook "vjobset.kb.io" denied the request' in refused.stderr
