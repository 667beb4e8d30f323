"""The plugins of a Job: what is in its pods, and the objects they make and delete.

Tests: volcano/controllers/job/plugins/*.py
"""

from base64 import b64decode

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_public_key

from seatrial.model.documents import Document
from tests.known_kinds import known_kind
from tests.volcano.cluster import Cluster
from tests.volcano.objects import command, job, task

OWNED = {"ConfigMap": "v1", "Secret": "v1", "Service": "v1", "NetworkPolicy": "networking.k8s.io/v1"}


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def made(cluster: Cluster, **plugins: list[str]) -> Document:
    """The pod of a Job with plugins."""
    cluster.create(job("train", task("main-task"), plugins=plugins))
    cluster.set_phase("Inqueue")
    (pod,) = cluster.pods()
    return pod


def owned(cluster: Cluster, name: str) -> dict[str, Document]:
    """The objects of the Job `train`, by kind and name."""
    kind = known_kind(cluster.store.kinds, OWNED[name], name)
    documents = [stored.document() for stored in cluster.store.list(kind, "default")]
    return {
        document["metadata"]["name"]: document
        for document in documents
        if [owner["name"] for owner in document["metadata"].get("ownerReferences", [])] == ["train"]
    }


def test_svc_names_pods_and_lists_the_hosts_of_every_task(cluster: Cluster) -> None:
    pod = made(cluster, svc=["--publish-not-ready-addresses"])
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("train-main-task-0", "train")
    (container,) = pod["spec"]["containers"]
    assert {"mountPath": "/etc/volcano", "name": "train-svc"} in container["volumeMounts"]
    assert [variable["name"] for variable in container["env"]] == ["VC_MAIN_TASK_HOSTS", "VC_MAIN_TASK_NUM"]
    assert owned(cluster, "ConfigMap")["train-svc"]["data"] == {
        "main_task.host": "train-main-task-0.train",
        "VC_MAIN_TASK_HOSTS": "train-main-task-0.train",
        "VC_MAIN_TASK_NUM": "1",
    }
    service = owned(cluster, "Service")["train"]["spec"]
    assert (service["clusterIP"], service["publishNotReadyAddresses"]) == ("None", True)
    assert owned(cluster, "NetworkPolicy")["train"]["spec"]["policyTypes"] == ["Ingress"]


def test_the_network_policy_may_be_left_out(cluster: Cluster) -> None:
    made(cluster, svc=["--disable-network-policy=true"])
    assert owned(cluster, "NetworkPolicy") == {}


def test_the_hosts_follow_the_replicas_of_a_running_job(cluster: Cluster) -> None:
    made(cluster, svc=[])
    cluster.run()
    document = cluster.job()
    document["spec"]["tasks"][0]["replicas"] = 2
    cluster.store.update(known_kind(cluster.store.kinds, "batch.volcano.sh/v1alpha1", "Job"), document, writer="user")
    cluster.work()
    assert owned(cluster, "ConfigMap")["train-svc"]["data"]["VC_MAIN_TASK_NUM"] == "2"


def test_ssh_mounts_a_key_pair_from_a_secret(cluster: Cluster) -> None:
    pod = made(cluster, ssh=["--ssh-port=2222"])
    (volume,) = [volume for volume in pod["spec"]["volumes"] if volume["name"] == "train-ssh"]
    assert (volume["secret"]["secretName"], volume["secret"]["defaultMode"]) == ("train-ssh", 0o600)
    mount = {"mountPath": "/root/.ssh", "subPath": ".ssh", "name": "train-ssh"}
    assert mount in pod["spec"]["containers"][0]["volumeMounts"]
    files = {name: b64decode(data) for name, data in owned(cluster, "Secret")["train-ssh"]["data"].items()}
    private = load_pem_private_key(files["id_rsa"], None)
    assert private.public_key() == load_ssh_public_key(files["authorized_keys"])
    assert b"Host train-main-task-0\n  HostName train-main-task-0.train\n  Port 2222\n" in files["config"]


def test_ssh_takes_keys_and_a_path_of_the_user(cluster: Cluster) -> None:
    pod = made(cluster, ssh=["--ssh-private-key=one", "--ssh-public-key=two", "--ssh-key-file-path=/home/user/.ssh"])
    (volume,) = [volume for volume in pod["spec"]["volumes"] if volume["name"] == "train-ssh"]
    assert volume["secret"]["defaultMode"] == 0o644
    files = owned(cluster, "Secret")["train-ssh"]["data"]
    assert [b64decode(files[name]) for name in ("id_rsa", "id_rsa.pub", "authorized_keys")] == [b"one", b"two", b"two"]


def test_what_plugins_made_goes_with_the_pods(cluster: Cluster) -> None:
    made(cluster, env=[], ssh=[], svc=[])
    assert cluster.job()["status"]["controlledResources"] == {
        "plugin-env": "env",
        "plugin-ssh": "ssh",
        "plugin-svc": "svc",
    }
    cluster.create(command("AbortJob", "Job", "train"))
    assert not any(owned(cluster, kind) for kind in OWNED)
    assert "controlledResources" not in cluster.job()["status"]
