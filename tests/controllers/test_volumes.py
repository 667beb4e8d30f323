"""Volumes that a driver would provision, and what becomes of them."""

from typing import Any

from seatrial.model.times import SECOND
from tests.controllers.objects import pod
from tests.controllers.replaying import Cluster

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"


def storage_class(name: str = "fast", mode: str = "Immediate", *, default: bool = False) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": name}
    if default:
        meta["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
    head = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": meta}
    return head | {"provisioner": "disk.example.com", "volumeBindingMode": mode}


def claim(name: str = "data", **spec: Any) -> dict[str, Any]:
    body = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "5Gi"}}} | spec
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": body}


def user(name: str = "user") -> dict[str, Any]:
    return pod(name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])


def test_a_claim_of_a_driver_gets_a_volume_at_once(cluster: Cluster) -> None:
    cluster.create(storage_class(), claim(storageClassName="fast"))
    cluster.settle()
    found = cluster.get("PersistentVolumeClaim", "data")
    (volume,) = cluster.all("PersistentVolume")
    assert (found["status"]["phase"], volume["status"]["phase"]) == ("Bound", "Bound")
    assert found["status"]["capacity"] == {"storage": "5Gi"}
    assert volume["spec"]["csi"]["driver"] == "disk.example.com"


def test_a_claim_that_waits_gets_its_volume_where_its_pod_goes(cluster: Cluster) -> None:
    cluster.patch({"kind": "Node", "name": "n1", "body": {"metadata": {"labels": {ZONE: "z"}}}})
    cluster.create(storage_class(mode="WaitForFirstConsumer"), claim(storageClassName="fast"))
    cluster.settle()
    assert not cluster.all("PersistentVolume")
    cluster.create(user() | {"spec": user()["spec"] | {"nodeSelector": {ZONE: "z"}}})
    cluster.settle(SECOND)
    assert cluster.get("Pod", "user")["status"]["phase"] == "Running"
    (volume,) = cluster.all("PersistentVolume")
    (term,) = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": ZONE, "operator": "In", "values": ["z"]}]


def test_a_provisioned_volume_goes_with_its_claim(cluster: Cluster) -> None:
    cluster.create(storage_class(), claim(storageClassName="fast"))
    cluster.settle()
    cluster.delete({"kind": "PersistentVolumeClaim", "name": "data"})
    cluster.settle()
    assert not cluster.all("PersistentVolume")


def test_a_claim_without_a_class_takes_the_default_one_when_it_comes(cluster: Cluster) -> None:
    cluster.create(claim())
    cluster.settle()
    assert cluster.get("PersistentVolumeClaim", "data")["status"]["phase"] == "Pending"
    cluster.create(storage_class(default=True))
    cluster.settle()
    found = cluster.get("PersistentVolumeClaim", "data")
    assert (found["spec"]["storageClassName"], found["status"]["phase"]) == ("fast", "Bound")


def test_a_provisioner_with_a_slash_in_its_name_makes_directories_of_the_chosen_node(cluster: Cluster) -> None:
    cluster.patch({"kind": "Node", "name": "n1", "body": {"metadata": {"labels": {ZONE: "z", HOSTNAME: "n1"}}}})
    local = storage_class("local", "WaitForFirstConsumer") | {"provisioner": "rancher.io/local-path"}
    cluster.create(local, claim(storageClassName="local"))
    cluster.create(user() | {"spec": user()["spec"] | {"nodeSelector": {ZONE: "z"}}})
    cluster.settle(SECOND)
    assert cluster.get("Pod", "user")["status"]["phase"] == "Running"
    (volume,) = cluster.all("PersistentVolume")
    assert volume["metadata"]["annotations"]["pv.kubernetes.io/provisioned-by"] == "rancher.io/local-path"
    assert volume["spec"]["hostPath"]["path"] == f"/var/lib/rancher.io/local-path/{volume['metadata']['name']}"
    (term,) = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": HOSTNAME, "operator": "In", "values": ["n1"]}]


def test_each_of_many_alike_pods_gets_the_claim_of_its_ephemeral_volume(cluster: Cluster) -> None:
    template = {"spec": claim()["spec"]}
    for number in range(4):
        cluster.create(
            pod(f"plain-{number}"),
            pod(f"scratch-{number}", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": template}}]),
        )
    cluster.settle()
    claims = [found["metadata"]["name"] for found in cluster.all("PersistentVolumeClaim")]
    assert claims == [f"scratch-{number}-v" for number in range(4)]
