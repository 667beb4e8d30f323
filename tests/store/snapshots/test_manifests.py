"""Manifests of a dump: what `kubectl apply` of it would need."""

from seatrial.store.snapshots import manifests_of
from tests.scenario import running
from tests.scenario.playing import create, done, operations
from tests.store.snapshots.objects import Document, lived, node, pod, template, workload


def names(documents: list[Document]) -> list[tuple[str, str]]:
    return [(document["kind"], document["metadata"]["name"]) for document in documents]


def test_fields_that_a_server_owns_are_dropped() -> None:
    (made,) = manifests_of([pod("a", workload("ReplicaSet"))])
    assert set(made["metadata"]) == {"name", "namespace", "labels"}
    assert "status" not in made
    assert made["spec"]["nodeName"] == "n1"


def test_a_node_keeps_its_status() -> None:
    (made,) = manifests_of([node()])
    assert made["status"]["allocatable"]["cpu"] == "8"


def test_manifests_stay_as_they_are_and_in_their_order() -> None:
    plain = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "a-"}, "status": {}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}},
    ]
    assert manifests_of(plain) == plain


def test_what_every_server_has_and_what_is_over_is_left_out() -> None:
    ended = pod("ended")
    ended["status"]["phase"] = "Succeeded"
    done = lived("Job", "done", "batch/v1", spec={}, status={"conditions": [{"type": "Complete", "status": "True"}]})
    default = lived("Namespace", "default", namespace="")
    assert names(manifests_of([default, ended, done, node(), lived("Namespace", "team", namespace="")])) == [
        ("Namespace", "team"),
        ("Node", "n1"),
    ]


def test_pods_of_a_daemon_set_in_the_file_are_left_out_and_of_a_replica_set_are_not() -> None:
    agents, web = workload("DaemonSet"), workload("ReplicaSet")
    found = manifests_of([agents, web, pod("agent", agents), pod("web-1", web)])
    assert names(found) == [("DaemonSet", "web"), ("ReplicaSet", "web"), ("Pod", "web-1")]


def test_a_job_loses_the_selector_that_the_server_made() -> None:
    made = template(restartPolicy="Never")
    made["metadata"]["labels"]["batch.kubernetes.io/controller-uid"] = "x"
    spec = {"template": made, "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "x"}}}
    (found,) = manifests_of([lived("Job", "work", "batch/v1", spec=spec)])
    assert "selector" not in found["spec"]
    assert found["spec"]["template"]["metadata"]["labels"] == {"app": "web"}


def test_a_volume_is_bound_to_the_claim_by_name() -> None:
    claim = {"name": "c", "namespace": "default", "uid": "u", "resourceVersion": "3"}
    (found,) = manifests_of([lived("PersistentVolume", "v", namespace="", spec={"claimRef": claim})])
    assert found["spec"]["claimRef"] == {"name": "c", "namespace": "default"}


def test_a_claim_and_its_volume_are_bound_again() -> None:
    """The claim has a uid of its own now, so the annotation that it is bound would make it Lost."""
    bound = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
    common = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "volumeMode": "Filesystem"}
    asked = {**common, "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "v"}
    claim = lived("PersistentVolumeClaim", "c", spec=asked)
    claim["metadata"]["annotations"] = dict(bound)
    reference = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "c", "uid": claim["metadata"]["uid"]}
    offered = {**common, "capacity": {"storage": "1Gi"}, "csi": {"driver": "d", "volumeHandle": "h"}}
    volume = lived("PersistentVolume", "v", namespace="", spec={**offered, "claimRef": reference})
    using = running.pod("p", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}])
    made = [create(1, document) for document in manifests_of([volume, claim])]
    run = running.Run(operations(create(1, running.node("n")), *made, create(1, using), done(1)))
    assert (run.get("PersistentVolumeClaim", "c") or {})["status"]["phase"] == "Bound"
    assert (run.get("Pod", "p") or {})["spec"]["nodeName"] == "n"
