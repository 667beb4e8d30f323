"""Events about Jobs and queues, by the texts of vc-controller-manager."""

import pytest

from seatrial.model.documents import Document
from seatrial.model.times import SECOND
from seatrial.store.registry.status_writes import write_status
from seatrial.volcano.apis import POD_GROUP, SCHEDULING, kind_of
from tests.volcano.cluster import Cluster
from tests.volcano.objects import command, job, queue, task


@pytest.fixture
def cluster() -> Cluster:
    return Cluster(events=True)


def events(cluster: Cluster, kind: str) -> list[tuple[str, str, str]]:
    """Type, reason and message of the events about objects of a kind."""
    stored = cluster.store.list(kind_of(cluster.store, ("v1", "Event")))
    found: list[Document] = [each.document() for each in stored]
    return [
        (event["type"], event["reason"], event["message"])
        for event in found
        if event["involvedObject"]["kind"] == kind and event["source"]["component"] == "vc-controller-manager"
    ]


def test_a_command_is_told_and_the_action_it_starts(cluster: Cluster) -> None:
    cluster.create(job("train", task()))
    cluster.create(command("AbortJob", "Job", "train"))
    text = "Start to execute command AbortJob, and clean it up to make sure executed not more than once."
    assert events(cluster, "Job") == [
        ("Normal", "CommandIssued", text),
        ("Normal", "ExecuteAction", "Start to execute action AbortJob "),
    ]


def test_a_delayed_action_is_told_when_it_is_put_off(cluster: Cluster) -> None:
    policies = [{"event": "PodPending", "action": "TerminateJob", "timeout": "1m30s"}]
    cluster.create(job("train", task(), policies=policies))
    cluster.set_phase("Inqueue")
    assert ("Normal", "ExecuteAction", "Execute action TerminateJob after 1m30s") in events(cluster, "Job")


def test_a_group_that_cannot_be_scheduled_is_told_on_its_job(cluster: Cluster) -> None:
    cluster.create(job("train", task()))
    (group,) = cluster.store.list(kind_of(cluster.store, POD_GROUP))
    condition = {"type": "Unschedulable", "status": "True", "lastTransitionTime": "2025-01-01T00:00:00Z"}
    condition |= {"reason": "NotEnoughResources", "message": "1/1 tasks in gang unschedulable"}
    write_status(cluster.store, group, {"phase": "Inqueue", "conditions": [condition]}, "test")
    cluster.work()
    text = "PodGroup default:train unschedulable, reason: 1/1 tasks in gang unschedulable"
    assert ("Warning", "PodGroupPending", text) in events(cluster, "Job")


def test_a_missing_claim_is_told_and_ends_the_job_at_last(cluster: Cluster) -> None:
    cluster.create(job("train", task(), volumes=[{"mountPath": "/data", "volumeClaimName": "none"}]))
    why = "pvc none is not found, the job will be in the Pending state until the PVC is created"
    assert events(cluster, "Job") == [("Warning", "PVCError", f"Failed to create PVC, err: {why}")]
    cluster.wait(100 * SECOND)
    assert cluster.phase() == "Pending"
    cluster.wait(300 * SECOND)
    assert ("Normal", "ExecuteAction", "Job failed on action SyncJob for retry limit reached") in events(cluster, "Job")
    assert cluster.phase() == "Terminated"


def test_pods_that_a_quota_refuses_are_told_and_the_others_are_created(cluster: Cluster) -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few", "namespace": "default"}}
    cluster.create(quota | {"spec": {"hard": {"pods": "1"}}})
    cluster.create(job("train", task(replicas=2)))
    cluster.set_phase("Inqueue")
    assert cluster.names() == ["train-work-0"]
    (text,) = [text for _, reason, text in events(cluster, "Job") if reason == "FailedCreate"]
    assert text.startswith("Error creating pods: [failed to create pod train-work-1, err: ")
    assert "exceeded quota: few" in text


def test_a_queue_that_was_closed_is_told(cluster: Cluster) -> None:
    cluster.create(queue("team"))
    cluster.create(command("CloseQueue", "Queue", "team", SCHEDULING))
    assert events(cluster, "Queue") == [("Normal", "CloseQueue", "Close queue succeed")]


def test_a_run_writes_no_events() -> None:
    quiet = Cluster()
    quiet.create(job("train", task()))
    quiet.create(command("AbortJob", "Job", "train"))
    assert events(quiet, "Job") == []
