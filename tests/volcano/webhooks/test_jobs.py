"""What admission makes of a Volcano Job, and which ones it refuses.

Tests: volcano/webhooks/job*.py, volcano/webhooks/admission.py
"""

from typing import Any

import pytest

from seatrial.model.documents import Document
from seatrial.model.errors import Invalid
from seatrial.volcano.apis import JOB, kind_of
from seatrial.volcano.webhooks import Denied
from tests.volcano.objects import create, job, queue, task, template, volcano_store


def test_a_job_gets_queue_scheduler_retries_and_the_sum_of_its_tasks() -> None:
    made = create(volcano_store(), job("train", task("ps", 1), task("worker", 3, minAvailable=2)))
    spec = made["spec"]
    assert (spec["queue"], spec["schedulerName"], spec["maxRetry"], spec["minAvailable"]) == (
        "default",
        "volcano",
        3,
        3,
    )
    assert [each["minAvailable"] for each in spec["tasks"]] == [1, 2]


def test_tasks_without_a_name_are_numbered() -> None:
    made = create(volcano_store(), job("train", {"replicas": 1, "template": template()}, task()))
    assert [each["name"] for each in made["spec"]["tasks"]] == ["default0", "work"]


def test_frameworks_bring_the_plugins_that_they_build_on() -> None:
    made = create(volcano_store(), job("train", task("master"), plugins={"mpi": []}))
    assert made["spec"]["plugins"] == {"mpi": [], "svc": [], "ssh": []}


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (job("j") | {"spec": "x"}, "spec"),
        (job("j") | {"spec": [None]}, "spec"),
        (job("j") | {"spec": {"tasks": 1}}, r"spec\.tasks"),
        (job("j", task(), plugins=True), r"spec\.plugins"),
        (job("j", task(minAvailable="x")), r"spec\.tasks\[0\]\.minAvailable"),
        (job("j", task(partitionPolicy={"minPartitions": "x"})), r"spec\.tasks\[0\]\.partitionPolicy\.minPartitions"),
        (job("j", task(partitionPolicy={"minPartitions": 1})), r"spec\.tasks\[0\]\.partitionPolicy"),
        (job("j", task() | {"template": "x"}), r"spec\.tasks\[0\]\.template"),
        (job("j", task() | {"template": {"spec": [1]}}), r"spec\.tasks\[0\]\.template\.spec"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_definition_refuses_a_job_of_wrong_types_by_its_field(wrong: Document, field: str) -> None:
    with pytest.raises(Invalid, match=field):
        create(volcano_store(), wrong)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (job("j", task("a"), task("a")), "duplicated task name a;"),
        (
            job("j", task(replicas=1, minAvailable=2)),
            "'minAvailable' is greater than 'replicas' in task: work, job: j;",
        ),
        (job("j", task(), minAvailable=5), "job 'minAvailable' should not be greater than total replicas in tasks;"),
        (job("j", task(), queue="none"), 'unable to find job queue: queue.scheduling.volcano.sh "none" not found;'),
        (job("j", task(), queue="root"), "can not submit job to root queue;"),
        (job("j", task(), plugins={"magic": []}), "unable to find job plugin: magic;"),
        (job("j", task(), policies=[{"event": "PodFailed", "action": "Dance"}]), "invalid policy action"),
        (job("j", task(), policies=[{"event": "PodRunning", "action": "AbortJob"}]), "invalid policy event"),
        (job("j", task(), policies=[{"action": "AbortJob"}]), "either event and exitCode should be specified"),
        (job("j", task(), policies=[{"exitCode": 0, "action": "AbortJob"}]), "0 is not a valid error code"),
        (job("j", task("a", dependsOn={"name": ["a"]})), "doesn't form a directed acyclic graph(DAG);"),
        (job("j", task(), volumes=[{"mountPath": "/a"}]), "either VolumeClaim or VolumeClaimName must be specified;"),
        (
            job("j", {"name": "a", "replicas": 1, "template": {"spec": {"containers": []}}}),
            "spec.task[0].template.spec",
        ),
        (job("j", task(), plugins={"mpi": []}), "The specified mpi master task was not found"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_job_that_cannot_run_is_denied(wrong: Document, why: str) -> None:
    with pytest.raises(Denied, match=r'admission webhook "validatejob.volcano.sh" denied the request') as refusal:
        create(volcano_store(), wrong)
    assert why in refusal.value.message


def test_the_definition_refuses_a_job_without_tasks() -> None:
    with pytest.raises(Invalid, match=r"spec\.tasks"):
        create(volcano_store(), job("j") | {"spec": {"tasks": []}})


def test_only_leaf_queues_take_jobs() -> None:
    store = volcano_store()
    create(store, queue("team"))
    create(store, queue("research", parent="team"))
    with pytest.raises(Denied, match="queue `team` has 1 child queues"):
        create(store, job("j", queue="team"))


@pytest.mark.parametrize(
    ("change", "allowed"),
    [
        ({"minAvailable": 1}, True),
        ({"priorityClassName": "high"}, True),
        ({"maxRetry": 9}, False),
        ({"queue": "other"}, False),
        ({"tasks": []}, False),
    ],
)
def test_an_update_may_change_only_what_scales_a_job(change: dict[str, Any], allowed: bool) -> None:
    store = volcano_store()
    made = create(store, job("j", task(replicas=2)))
    changed = made | {"spec": made["spec"] | change}
    if allowed:
        store.update(kind_of(store, JOB), changed, writer="user")
        return
    with pytest.raises((Denied, Invalid)):
        store.update(kind_of(store, JOB), changed, writer="user")
