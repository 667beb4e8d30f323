"""JobFlow and JobTemplate: Jobs from templates, one after the other."""

from typing import Any

import pytest

from seatrial.model.documents import Document
from seatrial.model.times import MINUTE
from seatrial.volcano.apis import FLOW, JOB, JOB_FLOW, JOB_TEMPLATE, kind_of
from tests.volcano.cluster import Cluster
from tests.volcano.controllers.test_events import events
from tests.volcano.objects import found, task


def template(name: str) -> Document:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": FLOW, "kind": "JobTemplate", "metadata": metadata, "spec": {"tasks": [task()]}}


def flow(*steps: str, **spec: Any) -> Document:
    """A flow of steps, each with the one before as its target where its name ends with `+`."""
    flows: list[Document] = []
    for step in steps:
        own: Document = {"name": step.rstrip("+")}
        if step.endswith("+"):
            own["dependsOn"] = {"targets": [flows[-1]["name"]]}
        flows.append(own)
    metadata = {"name": "pipe", "namespace": "default"}
    return {"apiVersion": FLOW, "kind": "JobFlow", "metadata": metadata, "spec": {"flows": flows, **spec}}


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster(events=True)
    cluster.create(template("a"), template("b"))
    return cluster


def jobs(cluster: Cluster) -> list[str]:
    return [stored.name for stored in cluster.store.list(kind_of(cluster.store, JOB))]


def status(cluster: Cluster) -> Document:
    status: Document = found(cluster.store, JOB_FLOW, "pipe")["status"]
    return status


def complete(cluster: Cluster, job: str, phase: str = "Succeeded") -> None:
    cluster.set_phase("Inqueue")
    cluster.run(f"{job}-work-0")
    cluster.set_phase("Running")
    cluster.end(f"{job}-work-0", phase)


def test_a_step_waits_until_the_job_it_depends_on_has_completed(cluster: Cluster) -> None:
    cluster.create(flow("a", "b+"))
    assert jobs(cluster) == ["pipe-a"]
    complete(cluster, "pipe-a")
    assert jobs(cluster) == ["pipe-a", "pipe-b"]
    assert status(cluster)["state"] == {"phase": "Running"}
    complete(cluster, "pipe-b")
    assert status(cluster)["completedJobs"] == ["pipe-a", "pipe-b"]
    assert status(cluster)["state"] == {"phase": "Succeed"}


def test_a_job_carries_its_flow_and_its_template(cluster: Cluster) -> None:
    cluster.create(flow("a"))
    meta = found(cluster.store, JOB, "pipe-a")["metadata"]
    origin = {"volcano.sh/createdByJobTemplate": "default.a", "volcano.sh/createdByJobFlow": "default.pipe"}
    assert meta["labels"] == meta["annotations"] == origin
    (owner,) = meta["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("JobFlow", "pipe", True)
    assert found(cluster.store, JOB_TEMPLATE, "a")["status"] == {"jobDependsOnList": ["pipe-a"]}
    assert events(cluster, "JobFlow") == [("Normal", "Created", "create a job named pipe-a!")]


def test_the_status_has_the_history_of_each_job(cluster: Cluster) -> None:
    cluster.create(flow("a"))
    complete(cluster, "pipe-a")
    (job,) = status(cluster)["jobStatusList"]
    assert [part["state"] for part in job["runningHistories"]] == ["Pending", "Running", "Completed"]
    assert all("endTimestamp" in part for part in job["runningHistories"][:-1])
    assert "endTimestamp" not in job["runningHistories"][-1]
    assert status(cluster)["conditions"]["pipe-a"]["phase"] == "Completed"


def test_a_flow_with_a_failed_job_fails_and_goes_no_further(cluster: Cluster) -> None:
    cluster.create(flow("a", "b+"))
    complete(cluster, "pipe-a", "Failed")
    assert status(cluster)["state"] == {"phase": "Failed"}
    assert jobs(cluster) == ["pipe-a"]


@pytest.mark.parametrize(("policy", "left"), [("delete", []), ("retain", ["pipe-a"])])
def test_jobs_of_a_flow_that_has_succeeded_stay_unless_they_are_to_be_deleted(
    cluster: Cluster, policy: str, left: list[str]
) -> None:
    cluster.create(flow("a", jobRetainPolicy=policy))
    complete(cluster, "pipe-a")
    cluster.work()
    assert jobs(cluster) == left


def test_a_missing_template_is_waited_for_and_told_in_the_end(cluster: Cluster) -> None:
    cluster.create(flow("c"))
    assert jobs(cluster) == []
    cluster.wait(MINUTE)
    cluster.create(template("c"))
    cluster.wait(2 * MINUTE)
    assert jobs(cluster) == ["pipe-c"]


def test_a_template_that_never_comes_is_given_up(cluster: Cluster) -> None:
    cluster.create(flow("c"))
    cluster.wait(10 * MINUTE)
    (event,) = events(cluster, "JobFlow")
    why = 'jobtemplate.flow.volcano.sh "c" not found, event is OutOfSync, action is SyncJobFlow'
    assert event == ("Warning", "SyncJobFlow", f"SyncJobFlow JobFlow failed for sync jobflow pipe failed for {why}")
    cluster.create(template("c"))
    cluster.wait(10 * MINUTE)
    assert jobs(cluster) == []
