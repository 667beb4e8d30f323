"""JobSet: a set of two replicated jobs runs to its end, on `serve` (with its webhooks) and in a scenario."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from seatrial.scenario.spec.kind import RUN_DURATION
from seatrial.server.auth.certificates import Certificates
from tests.outside.conftest import built as kubernetes
from tests.outside.objects import node
from tests.outside.processes import Kubectl, Serve, free_port
from tests.outside.test_outside_controllers import configured, play
from tests.outside.zoo.modules import files_of
from tests.outside.zoo.programs import Running, as_service_account, built, told, until
from tests.outside.zoo.webhooks import MOUNTED, endpoint, mount
from tests.scenario.playing import create, done, operations, scenario

SYSTEM = "jobset-system"
DEFAULTS = {
    "successPolicy": {"operator": "All"},
    "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
    "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
}
"""What its webhook fills in, for a scenario, which calls no webhooks."""


def job_set(name: str, replicas: dict[str, int], **spec: Any) -> dict[str, Any]:
    """A JobSet with a replicated job of two pods for each name."""
    container = {"name": "c", "image": "example.com/image", "resources": {"requests": {"cpu": "100m"}}}
    metadata = {"annotations": {RUN_DURATION: "1s"}}
    pod = {"metadata": metadata, "spec": {"restartPolicy": "Never", "containers": [container]}}
    counts = {"parallelism": 2, "completions": 2, "backoffLimit": 0, "completionMode": "Indexed"}
    job = {"spec": {**counts, "template": pod}}
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
        shutil.rmtree(MOUNTED, ignore_errors=True)
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


def steps_of(folder: Path) -> list[str]:
    """What happens in a scenario with JobSet's controller, which serves its webhooks although nobody calls them."""
    folder.mkdir()
    made = Certificates.in_directory(folder / "made")
    served = folder / "served"
    served.mkdir()
    for name, path in (("tls.crt", made.certificate), ("tls.key", made.key)):
        shutil.copy(path, served / name)
    config = {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "internalCertManagement": {"enable": False},
        "webhook": {"host": "127.0.0.1", "port": free_port(), "certDir": str(served)},
    }
    (folder / "config.json").write_text(json.dumps(config))
    flags = ("--leader-elect=false", "--metrics-bind-address=0", "--health-probe-bind-address=0")
    outside = {
        "name": "jobset",
        "command": [str(built("jobset")), "--config", str(folder / "config.json"), *flags],
        "rhythm": "interval 2s",
        "watches": ["jobset.x-k8s.io/v1alpha2/JobSet"],
    }
    train = job_set("train", {"leader": 1, "worker": 2}, ttlSecondsAfterFinished=0, **DEFAULTS)
    steps = operations(create(1, node("n1")), create(2, train), done(5), simulated=("scheduler", "jobset"))
    path = folder / "scenario.json"
    path.write_text(json.dumps(scenario(steps, step_duration="10s")))
    crds = files_of("jobset") / "config/components/crd/bases"
    (definition,) = crds.iterdir()
    return told(play(path, folder / "out", "--snapshot", str(definition), "--outside", configured(folder, outside)))


@pytest.mark.outside
@pytest.mark.long
def test_a_set_of_jobs_runs_to_its_end_in_a_scenario(tmp_path: Path) -> None:
    assert steps_of(tmp_path / "run") == [
        "1.0 create",
        *["2.0 create", "2.1 create"],  # the set and its Service
        *(f"2.{minor} create" for minor in (2, 3, 4) for _ in range(3)),  # a job and its two pods
        *(f"2.{minor} {what}" for minor in range(5, 11) for what in ("patch", "podScheduled n1")),
        *["2.10 patch"] * 6,  # the pods end
        *["2.11 delete"] * 11,  # the set is complete and is removed, with all that it owns
        "5.0 done",
    ]
