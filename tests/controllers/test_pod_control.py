"""Controllers that own pods, where recordings of the real ones do not reach: large numbers, time, odd orders."""

import pytest

from seatrial.controllers.framework.pod_control import least_wanted
from seatrial.controllers.framework.pod_row import read_pod
from seatrial.model.times import HOUR, MINUTE, SECOND
from tests.controllers.manifests import node
from tests.controllers.objects import EXIT, RUN, daemonset, deployment, job, pod
from tests.controllers.replaying import Cluster


def phases(cluster: Cluster) -> list[str]:
    return [found["status"]["phase"] for found in cluster.all("Pod")]


def test_more_pods_than_one_sync_makes_all_come(cluster: Cluster) -> None:
    cluster.create(deployment(replicas=700))
    cluster.work()
    assert len(cluster.all("Pod")) == 700
    cluster.patch({"kind": "Deployment", "name": "web", "body": {"spec": {"replicas": 3}}})
    cluster.work()
    assert len(cluster.all("Pod")) == 3


def test_pods_that_do_not_run_go_before_pods_that_do(cluster: Cluster) -> None:
    cluster.create(deployment(replicas=3))
    cluster.settle()
    running = {found["metadata"]["name"] for found in cluster.all("Pod")}
    cluster.patch({"kind": "Node", "name": "n0", "body": {"spec": {"unschedulable": True}}})
    cluster.patch({"kind": "Node", "name": "n1", "body": {"spec": {"unschedulable": True}}})
    cluster.patch({"kind": "Node", "name": "n2", "body": {"spec": {"unschedulable": True}}})
    cluster.patch({"kind": "Deployment", "name": "web", "body": {"spec": {"replicas": 5}}})
    cluster.settle()
    cluster.patch({"kind": "Deployment", "name": "web", "body": {"spec": {"replicas": 3}}})
    cluster.settle()
    assert {found["metadata"]["name"] for found in cluster.all("Pod")} == running


def test_of_two_ready_pods_the_one_ready_for_less_time_goes(cluster: Cluster) -> None:
    cluster.create(pod("old"))
    cluster.settle(HOUR)
    cluster.create(pod("young"))
    cluster.settle()
    rows = [read_pod(stored) for stored in cluster.store.list(cluster.kind("Pod"))]
    assert [row.name for row in least_wanted(rows, [], cluster.clock.now(), 1)] == ["young"]


def test_available_follows_ready_after_min_ready_seconds(cluster: Cluster) -> None:
    cluster.create(deployment(replicas=2, minReadySeconds=30))
    cluster.settle()
    assert "availableReplicas" not in cluster.get("Deployment", "web")["status"]
    cluster.settle(31 * SECOND)
    assert cluster.get("Deployment", "web")["status"]["availableReplicas"] == 2


def test_a_rollout_that_stands_still_times_out_in_virtual_time(cluster: Cluster) -> None:
    stuck = deployment(replicas=1, progressDeadlineSeconds=60)
    stuck["spec"]["template"]["spec"]["nodeSelector"] = {"never": "true"}
    cluster.create(stuck)
    cluster.settle(50 * SECOND)
    reasons = {c["type"]: c["reason"] for c in cluster.get("Deployment", "web")["status"]["conditions"]}
    assert reasons["Progressing"] == "ReplicaSetUpdated"
    cluster.settle(15 * SECOND)
    reasons = {c["type"]: c["reason"] for c in cluster.get("Deployment", "web")["status"]["conditions"]}
    assert reasons["Progressing"] == "ProgressDeadlineExceeded"


def test_a_name_that_is_taken_makes_the_deployment_try_another(cluster: Cluster) -> None:
    first = deployment()
    cluster.create(first)
    cluster.settle()
    (made,) = cluster.all("ReplicaSet")
    cluster.delete({"kind": "Deployment", "name": "web", "propagation": "Orphan"})
    cluster.settle()
    labels = {"app": "other", "pod-template-hash": "x"}
    template = made["spec"]["template"] | {"metadata": {"labels": labels}}
    cluster.delete({"kind": "ReplicaSet", "name": made["metadata"]["name"], "propagation": "Background"})
    cluster.settle()
    squatter = {"name": made["metadata"]["name"], "labels": labels}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    cluster.create({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": squatter, "spec": spec}, first)
    cluster.settle()
    assert cluster.get("Deployment", "web")["status"]["collisionCount"] == 1
    assert len(cluster.all("Pod")) == 3


def test_a_daemonset_follows_nodes_that_come_and_go(cluster: Cluster) -> None:
    cluster.create(daemonset())
    cluster.settle()
    cluster.create(node("n3"))
    cluster.settle()
    assert cluster.get("DaemonSet", "agent")["status"]["numberReady"] == 4
    cluster.delete({"kind": "Node", "name": "n0"})
    cluster.settle()
    status = cluster.get("DaemonSet", "agent")["status"]
    assert (status["desiredNumberScheduled"], status["numberReady"]) == (3, 3)
    assert {found["spec"]["nodeName"] for found in cluster.all("Pod")} == {"n1", "n2", "n3"}


def test_a_job_waits_longer_after_each_failure(cluster: Cluster) -> None:
    cluster.create(job(annotations={RUN: "1s", EXIT: "1"}, backoffLimit=3))
    began, made = cluster.clock.now(), []
    for _ in range(60):
        cluster.work()
        created = [found["metadata"]["creationTimestamp"] for found in cluster.all("Pod")]
        made = sorted(created)
        if not cluster.clock.fire_next(outer=True):
            break
    assert cluster.clock.now() - began < 3 * MINUTE
    assert [time[14:19] for time in made] == ["00:00", "00:11", "00:32", "01:13"]
    assert cluster.get("Job", "work")["status"]["failed"] == 4


def test_jobs_make_room_when_they_finish(cluster: Cluster) -> None:
    cluster.create(job(annotations={RUN: "60s"}, completions=6, parallelism=2))
    cluster.settle(61 * SECOND)
    while cluster.get("Job", "work")["status"].get("succeeded", 0) < 6:
        cluster.settle(61 * SECOND)
    status = cluster.get("Job", "work")["status"]
    assert status["completionTime"] == "2030-01-01T00:03:00Z"
    assert phases(cluster) == ["Succeeded"] * 6


@pytest.mark.parametrize("mode", ["NonIndexed", "Indexed"])
def test_a_job_of_two_hundred_pods_finishes(cluster: Cluster, mode: str) -> None:
    cluster.create(job(annotations={RUN: "10s"}, completions=200, parallelism=50, completionMode=mode))
    cluster.settle(11 * SECOND)
    status = cluster.get("Job", "work")["status"]
    assert status["succeeded"] == 200
    assert status["conditions"][-1]["type"] == "Complete"
    if mode == "Indexed":
        assert status["completedIndexes"] == "0-199"


def test_a_finished_job_goes_with_its_pods_when_its_time_is_over(cluster: Cluster) -> None:
    cluster.create(job(annotations={RUN: "1s"}, ttlSecondsAfterFinished=100))
    cluster.settle(50 * SECOND)
    assert len(cluster.all("Job")) == 1
    cluster.settle(101 * SECOND)
    assert not cluster.all("Job")
    assert not cluster.all("Pod")
