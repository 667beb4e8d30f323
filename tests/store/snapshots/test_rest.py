"""What each part of a snapshot must keep for the cluster to stay at rest."""

from typing import Any

import pytest

from seatrial.api import Simulation
from seatrial.store.snapshots import clean
from tests.store.snapshots.objects import BORN, Document, lived, node, pod, reference, template, workload
from tests.store.snapshots.rest import ONLY_DONE, Watch, moves_in_run

HASH = "controller-revision-hash"
JOB = {
    "template": template(restartPolicy="Never"),
    "selector": {"matchLabels": {"app": "web"}},
    "manualSelector": True,
}


def loaded(*documents: Document) -> Any:
    simulation = Simulation(ONLY_DONE, record="none", snapshot=list(clean(documents)))
    assert simulation.run().phase == "Succeeded", simulation.scenario_run.status.message
    return simulation.scenario_run.store


def of_kind(store: Any, kind: str, api_version: str = "apps/v1") -> list[Document]:
    return [stored.document() for stored in store.list(store.kinds.named(api_version, kind))]


def stateful_set(**status: Any) -> Document:
    found = workload("StatefulSet", 1, replicas=1, readyReplicas=1, updatedReplicas=1, currentReplicas=1, **status)
    found["spec"]["serviceName"] = "web"
    return found


def revision(name: str, number: int, image: str, owner: Document) -> Document:
    data = {"spec": {"template": {**template(image), "$patch": "replace"}}}
    data["spec"]["template"]["metadata"]["creationTimestamp"] = None
    found = lived("ControllerRevision", name, "apps/v1", data=data, revision=number)
    found["metadata"]["ownerReferences"] = [reference(owner["kind"], "web")]
    found["metadata"]["labels"] = {"app": "web", HASH: name.removeprefix("web-")}
    return found


def test_pods_of_a_stateful_set_with_its_revision_stay() -> None:
    owner = stateful_set(currentRevision="web-abc", updateRevision="web-abc")
    snapshot = [node(), owner, revision("web-abc", 1, "app:1", owner), pod("web-0", owner, **{HASH: "web-abc"})]
    assert moves_in_run(list(clean(snapshot))) == []


def test_pods_of_a_stateful_set_without_its_revision_stay_and_the_revision_has_their_hash() -> None:
    owner = stateful_set(currentRevision="web-abc", updateRevision="web-abc")
    store = loaded(node(), owner, pod("web-0", owner, **{HASH: "web-abc"}))
    assert [found["metadata"]["name"] for found in of_kind(store, "ControllerRevision")] == ["web-abc"]
    (kept,) = of_kind(store, "Pod", "v1")
    assert kept["metadata"]["uid"] == "uid-Pod-web-0"


def test_a_half_done_rollout_of_a_stateful_set_goes_on_with_the_old_pods_only() -> None:
    owner = stateful_set(currentRevision="web-old", updateRevision="web-new")
    owner["spec"] |= {"replicas": 2, "template": template("app:2")}
    old, new = pod("web-0", owner, **{HASH: "web-old"}), pod("web-1", owner, image="app:2", **{HASH: "web-new"})
    store = loaded(node(), owner, old, new)
    pods = {found["metadata"]["name"]: found["metadata"] for found in of_kind(store, "Pod", "v1")}
    assert pods["web-1"]["uid"] == "uid-Pod-web-1"
    assert {meta["labels"][HASH] for meta in pods.values()} == {"web-new"}


def test_pods_of_a_daemon_set_without_its_revision_stay() -> None:
    owner = workload("DaemonSet", currentNumberScheduled=1, desiredNumberScheduled=1, updatedNumberScheduled=1)
    assert moves_in_run(list(clean([node(), owner, pod("web-x", owner, **{HASH: "abc"})]))) == []


def test_pods_of_a_deployment_without_its_replica_set_stay() -> None:
    owner = workload("Deployment", replicas=1, updatedReplicas=1)
    running = pod("web-abc-x", None, **{"pod-template-hash": "abc"})
    running["metadata"]["ownerReferences"] = [reference("ReplicaSet", "web-abc")]
    store = loaded(node(), owner, running)
    (made,) = of_kind(store, "ReplicaSet")
    assert (made["metadata"]["uid"], made["spec"]["replicas"]) == ("uid-ReplicaSet-web-abc", 1)
    (kept,) = of_kind(store, "Pod", "v1")
    assert kept["metadata"]["uid"] == running["metadata"]["uid"]


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "DaemonSet", "Rollout"])
def test_pods_whose_owner_is_absent_stay(kind: str) -> None:
    orphan = pod("a")
    orphan["metadata"]["ownerReferences"] = [reference(kind, "gone")]
    assert moves_in_run(list(clean([node(), orphan]))) == []


def test_an_owner_that_was_present_and_is_deleted_takes_its_pods_along() -> None:
    owner = lived("ConfigMap", "owner")
    dependent = pod("a", owner)
    simulation = Simulation(ONLY_DONE, record="none", snapshot=list(clean([node(), owner, dependent])))
    run, store = simulation.scenario_run, simulation.scenario_run.store
    for _ in run.run():
        pass
    maps = store.kinds.named("v1", "ConfigMap")
    assert maps is not None
    store.delete(maps, "owner", namespace="default", writer="test")
    assert run.engine is not None
    while any([each.has_work() and each.work() for each in run.engine.controllers.preparing]):  # noqa: C419
        pass
    assert of_kind(store, "Pod", "v1") == []


def test_a_finished_job_is_not_deleted_for_the_years_between() -> None:
    done = [{"type": "Complete", "status": "True", "lastTransitionTime": BORN}]
    spec = {**JOB, "ttlSecondsAfterFinished": 3600}
    job = lived("Job", "done", "batch/v1", spec=spec, status={"conditions": done, "completionTime": BORN})
    assert moves_in_run(list(clean([node(), job]))) == []


def test_a_running_job_is_not_over_its_deadline_for_the_years_between() -> None:
    spec = {**JOB, "activeDeadlineSeconds": 3600}
    job = lived("Job", "web", "batch/v1", spec=spec, status={"startTime": BORN, "active": 1, "ready": 1})
    running = pod("web-x", job)
    running["metadata"]["finalizers"] = ["batch.kubernetes.io/job-tracking"]
    assert moves_in_run(list(clean([node(), job, running]))) == []


def test_a_bound_volume_whose_claim_is_absent_is_not_deleted() -> None:
    claim = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "data", "uid": "uid-claim"}
    spec = {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/d"},
        "persistentVolumeReclaimPolicy": "Delete", "claimRef": claim, "storageClassName": "fast",
    }  # fmt: skip
    store = loaded(node(), lived("PersistentVolume", "v", namespace="", spec=spec, status={"phase": "Bound"}))
    assert [found["status"]["phase"] for found in of_kind(store, "PersistentVolume", "v1")] == ["Bound"]
    assert [found["metadata"]["uid"] for found in of_kind(store, "PersistentVolumeClaim", "v1")] == ["uid-claim"]


def test_an_absent_priority_class_is_made_with_the_priority_of_its_pods() -> None:
    important = pod("a")
    important["spec"] |= {"priorityClassName": "vital", "priority": 700}
    found = of_kind(loaded(node(), important), "PriorityClass", "scheduling.k8s.io/v1")
    classes = {each["metadata"]["name"]: each["value"] for each in found}
    assert classes["vital"] == 700


def test_objects_of_a_server_are_not_admitted_again() -> None:
    limits = lived("LimitRange", "l", spec={"limits": [{"type": "Container", "defaultRequest": {"memory": "1Gi"}}]})
    (kept,) = of_kind(loaded(node(), limits, pod("a")), "Pod", "v1")
    assert kept["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "100m"}


def test_objects_without_uids_get_the_ones_by_which_others_refer_to_them() -> None:
    owner = workload("DaemonSet", currentNumberScheduled=1, desiredNumberScheduled=1, updatedNumberScheduled=1)
    running = pod("web-x", owner, **{HASH: "abc"})
    del owner["metadata"]["uid"]
    assert moves_in_run(list(clean([node(), owner, running]))) == []


def test_a_node_that_was_not_ready_stays_so() -> None:
    broken = node("n2")
    broken["status"]["conditions"] = [{"type": "Ready", "status": "Unknown", "lastTransitionTime": BORN}]
    store = loaded(node(), broken, pod("a", on="n2"))
    kept = next(found for found in of_kind(store, "Node", "v1") if found["metadata"]["name"] == "n2")
    assert kept["status"]["conditions"][0]["status"] == "Unknown"


def test_the_watch_of_these_tests_sees_moves() -> None:
    simulation = Simulation(ONLY_DONE, record="none", snapshot=[node(), pod("a", on="")])
    watch = Watch(simulation.scenario_run.store, "snapshot")
    simulation.run()
    assert any("spec of default/a" in move for move in watch.moves)


def stuck(reason: str) -> Document:
    found = pod("a")
    waiting = {"name": "main", "ready": False, "state": {"waiting": {"reason": reason}}}
    found["status"] = {"phase": "Pending", "startTime": BORN, "containerStatuses": [waiting]}
    return found


@pytest.mark.parametrize("reason", ["ImagePullBackOff", "CreateContainerConfigError"])
def test_a_pod_that_cannot_start_stays_as_it_is(reason: str) -> None:
    assert moves_in_run(list(clean([node(), stuck(reason)]))) == []


def test_a_pod_in_the_middle_of_its_start_goes_on() -> None:
    (kept,) = of_kind(loaded(node(), stuck("ContainerCreating")), "Pod", "v1")
    assert kept["status"]["phase"] == "Running"
