"""The Job controller: when pods are made, what ends a Job, and what its policies do."""

import pytest

from seatrial.model.times import SECOND
from seatrial.volcano.apis import COMMAND, SCHEDULING, kind_of
from seatrial.volcano.apis.labels import GROUP_NAME, JOB_VERSION, OUT_OF_SYNC, TASK_SPEC
from seatrial.volcano.webhooks import Denied
from tests.known_kinds import known_kind
from tests.volcano.cluster import Cluster
from tests.volcano.objects import command, job, queue, task


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def started(cluster: Cluster, *jobs: dict[str, object]) -> Cluster:
    """Jobs whose pods run."""
    cluster.create(*jobs)
    cluster.set_phase("Inqueue")
    cluster.run()
    return cluster


def test_pods_come_only_after_the_group_is_enqueued(cluster: Cluster) -> None:
    cluster.create(job("train", task(replicas=2)))
    assert cluster.names() == []
    assert cluster.phase() == "Pending"
    cluster.set_phase("Inqueue")
    assert cluster.names() == ["train-work-0", "train-work-1"]


def test_the_group_asks_for_what_the_least_pods_need(cluster: Cluster) -> None:
    cluster.create(job("train", task("ps", 1), task("worker", 3, minAvailable=2)))
    (group,) = cluster.groups()
    assert group["metadata"]["name"] == f"train-{cluster.job()['metadata']['uid']}"
    spec = group["spec"]
    assert (spec["minMember"], spec["minTaskMember"], spec["queue"]) == (3, {"ps": 1, "worker": 2}, "default")
    assert spec["minResources"] == {
        "count/pods": "3",
        "pods": "3",
        "cpu": "3",
        "memory": "3Gi",
        "requests.cpu": "3",
        "requests.memory": "3Gi",
    }


def test_a_pod_carries_what_the_scheduler_reads(cluster: Cluster) -> None:
    cluster.create(job("train", task(), priorityClassName="system-node-critical"))
    cluster.set_phase("Inqueue")
    (pod,) = cluster.pods()
    annotations = pod["metadata"]["annotations"]
    assert annotations[GROUP_NAME] == cluster.groups()[0]["metadata"]["name"]
    assert (annotations[TASK_SPEC], annotations[JOB_VERSION]) == ("work", "0")
    assert pod["spec"]["schedulerName"] == "volcano"
    assert pod["spec"]["priorityClassName"] == "system-node-critical"


def test_a_job_runs_when_enough_pods_do_and_completes_with_them(cluster: Cluster) -> None:
    cluster.create(job("train", task(replicas=2)))
    cluster.set_phase("Inqueue")
    cluster.run("train-work-0")
    assert cluster.phase() == "Pending"
    cluster.run("train-work-1")
    assert cluster.phase() == "Running"
    for name in cluster.names():
        cluster.end(name, "Succeeded")
    assert cluster.phase() == "Completed"
    assert cluster.groups() == []
    assert [condition["status"] for condition in cluster.job()["status"]["conditions"]] == [
        "Pending",
        "Running",
        "Completed",
    ]


def test_a_job_fails_when_too_few_of_a_task_succeed(cluster: Cluster) -> None:
    started(cluster, job("train", task(replicas=2)))
    cluster.end("train-work-0", "Succeeded")
    cluster.end("train-work-1", "Failed", 1)
    assert cluster.phase() == "Failed"


def test_min_success_ends_a_job_early(cluster: Cluster) -> None:
    started(cluster, job("train", task(replicas=3), minSuccess=1, minAvailable=1))
    cluster.end("train-work-1", "Succeeded")
    assert cluster.phase() == "Completed"
    live = [pod for pod in cluster.pods() if pod["status"]["phase"] == "Running"]
    assert all("deletionTimestamp" in pod["metadata"] for pod in live)


def test_a_task_waits_for_those_it_depends_on(cluster: Cluster) -> None:
    cluster.create(job("train", task("a"), task("b", dependsOn={"name": ["a"]})))
    cluster.set_phase("Inqueue")
    assert cluster.names() == ["train-a-0"]
    cluster.run("train-a-0")
    assert cluster.names() == ["train-a-0", "train-b-0"]


def test_a_task_may_wait_for_any_of_several(cluster: Cluster) -> None:
    depends = {"name": ["a", "b"], "iteration": "any"}
    cluster.create(job("train", task("a"), task("b"), task("c", dependsOn=depends)))
    cluster.set_phase("Inqueue")
    cluster.run("train-b-0")
    assert "train-c-0" in cluster.names()


def test_a_failed_pod_restarts_the_job_where_a_policy_says_so(cluster: Cluster) -> None:
    started(cluster, job("train", task(replicas=2), policies=[{"event": "PodFailed", "action": "RestartJob"}]))
    cluster.end("train-work-0", "Failed", 1)
    status = cluster.job()["status"]
    assert (status["state"]["phase"], status["retryCount"], status["version"]) == ("Restarting", 1, 1)
    assert cluster.names() == []
    cluster.set_phase("Inqueue")
    assert cluster.phase() == "Pending"
    assert {pod["metadata"]["annotations"][JOB_VERSION] for pod in cluster.pods()} == {"1"}


def test_a_job_that_was_restarted_too_often_fails(cluster: Cluster) -> None:
    policies = [{"event": "PodFailed", "action": "RestartJob"}]
    started(cluster, job("train", task(), policies=policies, maxRetry=1))
    cluster.end("train-work-0", "Failed", 1)
    assert cluster.phase() == "Failed"


def test_a_policy_of_the_task_comes_before_that_of_the_job(cluster: Cluster) -> None:
    own = [{"event": "PodFailed", "action": "CompleteJob"}]
    started(cluster, job("train", task(policies=own), policies=[{"event": "PodFailed", "action": "AbortJob"}]))
    cluster.end("train-work-0", "Failed", 1)
    assert cluster.phase() == "Completed"


def test_a_policy_may_answer_an_exit_code(cluster: Cluster) -> None:
    started(cluster, job("train", task(replicas=2), policies=[{"exitCode": 3, "action": "AbortJob"}]))
    cluster.end("train-work-0", "Failed", 2)
    assert cluster.phase() == "Running"
    cluster.end("train-work-1", "Failed", 3)
    assert cluster.phase() == "Aborted"


def test_a_completed_task_may_complete_the_job(cluster: Cluster) -> None:
    done = [{"event": "TaskCompleted", "action": "CompleteJob"}]
    started(cluster, job("train", task("master", policies=done), task("worker", 2)))
    cluster.end("train-master-0", "Succeeded")
    assert cluster.phase() == "Completed"


def test_an_evicted_pod_is_an_event(cluster: Cluster) -> None:
    started(cluster, job("train", task(replicas=2), policies=[{"event": "PodEvicted", "action": "TerminateJob"}]))
    kind = known_kind(cluster.store.kinds, "v1", "Pod")
    cluster.store.delete(kind, "train-work-0", namespace="default", writer="test")
    cluster.wait(60 * SECOND)
    assert cluster.phase() == "Terminated"


def test_a_single_pod_may_be_restarted(cluster: Cluster) -> None:
    started(cluster, job("train", task(replicas=2), policies=[{"event": "PodFailed", "action": "RestartPod"}]))
    before = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in cluster.pods()}
    cluster.end("train-work-0", "Failed", 1)
    cluster.set_phase("Inqueue")
    after = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in cluster.pods()}
    assert after["train-work-0"] != before["train-work-0"]
    assert after["train-work-1"] == before["train-work-1"]
    assert cluster.job()["status"]["retryCount"] == 1


def test_a_timeout_delays_an_action_and_is_cancelled_when_the_pod_runs(cluster: Cluster) -> None:
    policies = [{"event": "PodPending", "action": "TerminateJob", "timeout": "1m"}]
    cluster.create(job("slow", task(), policies=policies), job("fast", task(), policies=policies))
    cluster.set_phase("Inqueue")
    cluster.run("fast-work-0")
    cluster.wait(59 * SECOND)
    assert cluster.phase("slow") == "Pending"
    cluster.wait(2 * SECOND)
    assert (cluster.phase("slow"), cluster.phase("fast")) == ("Terminated", "Running")


def test_commands_abort_and_resume_a_job(cluster: Cluster) -> None:
    started(cluster, job("train", task()))
    cluster.create(command("AbortJob", "Job", "train"))
    assert cluster.phase() == "Aborted"
    assert cluster.store.list(kind_of(cluster.store, COMMAND)) == []
    cluster.create(command("ResumeJob", "Job", "train"))
    assert cluster.phase() == "Pending"
    cluster.set_phase("Inqueue")
    cluster.run()
    assert cluster.phase() == "Running"


def test_a_killed_pod_is_marked_so_that_no_policy_answers_it(cluster: Cluster) -> None:
    started(cluster, job("train", task(), policies=[{"event": "PodEvicted", "action": "RestartJob"}]))
    cluster.create(command("AbortJob", "Job", "train"))
    assert all(OUT_OF_SYNC in pod["metadata"]["annotations"] for pod in cluster.pods())
    assert cluster.phase() == "Aborted"


def test_scaling_creates_and_deletes_pods(cluster: Cluster) -> None:
    started(cluster, job("train", task(replicas=2)))
    for replicas, names in ((3, ["train-work-0", "train-work-1", "train-work-2"]), (1, ["train-work-0"])):
        changed = cluster.job()
        changed["spec"]["tasks"][0] |= {"replicas": replicas, "minAvailable": replicas}
        changed["spec"]["minAvailable"] = replicas
        kind = known_kind(cluster.store.kinds, changed["apiVersion"], "Job")
        cluster.store.update(kind, changed, writer="test")
        cluster.work()
        assert [
            pod["metadata"]["name"] for pod in cluster.pods() if "deletionTimestamp" not in pod["metadata"]
        ] == names
        assert cluster.groups()[0]["spec"]["minMember"] == replicas


def test_partitions_become_sub_groups(cluster: Cluster) -> None:
    policy = {"totalPartitions": 2, "partitionSize": 2, "minPartitions": 1}
    cluster.create(job("train", task(replicas=4, partitionPolicy=policy)))
    (group,) = cluster.groups()
    assert group["spec"]["minMember"] == 2
    assert group["spec"]["subGroupPolicy"] == [
        {
            "name": "work",
            "subGroupSize": 2,
            "minSubGroups": 1,
            "labelSelector": {"matchLabels": {TASK_SPEC: "work"}},
            "matchLabelKeys": ["volcano.sh/partition-id"],
        }
    ]


def test_a_closed_queue_takes_no_job(cluster: Cluster) -> None:
    cluster.create(queue("team"))
    cluster.create(command("CloseQueue", "Queue", "team", SCHEDULING))
    with pytest.raises(Denied, match="can only submit job to queue with state `Open`, queue `team` status is"):
        cluster.create(job("train", queue="team"))
