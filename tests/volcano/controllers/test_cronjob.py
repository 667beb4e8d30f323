"""Volcano's CronJob: Jobs on a schedule."""

from typing import Any

import pytest

from seatrial.clock import START
from seatrial.model.documents import Document
from seatrial.model.errors import StatusError
from seatrial.model.times import MINUTE, SECOND
from seatrial.volcano.apis import BATCH, CRON_JOB, JOB, kind_of
from tests.volcano.cluster import Cluster
from tests.volcano.controllers.test_events import events
from tests.volcano.objects import create, found, task

FIRST = START // MINUTE
"""The minutes from 1970 to the start of a run."""


def cron(schedule: str = "*/5 * * * *", name: str = "nightly", **spec: Any) -> Document:
    template = {"metadata": {"labels": {"team": "a"}}, "spec": {"tasks": [task()]}}
    return {
        "apiVersion": BATCH,
        "kind": "CronJob",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"schedule": schedule, "jobTemplate": template, **spec},
    }


def started(**spec: Any) -> Cluster:
    cluster = Cluster(events=True)
    cluster.create(cron(**spec))
    return cluster


def jobs(cluster: Cluster) -> list[int]:
    """The minutes after the start at which Jobs were due."""
    names = [stored.name for stored in cluster.store.list(kind_of(cluster.store, JOB))]
    return [int(name.rpartition("-")[2]) - FIRST for name in names]


def status(cluster: Cluster) -> Document:
    status: Document = found(cluster.store, CRON_JOB, "nightly").get("status") or {}
    return status


def complete(cluster: Cluster) -> None:
    cluster.set_phase("Inqueue")
    cluster.run()
    cluster.set_phase("Running")
    for name in cluster.names():
        cluster.end(name, "Succeeded")


def test_a_job_is_created_at_each_scheduled_time() -> None:
    cluster = started()
    cluster.wait(11 * MINUTE)
    assert jobs(cluster) == [5, 10]
    meta = found(cluster.store, JOB, f"nightly-{FIRST + 5}")["metadata"]
    assert meta["labels"] == {"team": "a"}
    assert meta["annotations"] == {"volcano.sh/cronjob-scheduled-timestamp": "2030-01-01T00:05:00Z"}
    assert meta["ownerReferences"][0]["kind"] == "CronJob"
    assert status(cluster)["lastScheduleTime"] == "2030-01-01T00:10:00Z"
    assert [active["name"] for active in status(cluster)["active"]] == [f"nightly-{FIRST + n}" for n in (5, 10)]


def test_a_job_begins_a_tenth_of_a_second_after_its_time() -> None:
    cluster = started()
    cluster.wait(5 * MINUTE + 50_000)
    assert jobs(cluster) == []
    cluster.wait(50_000)
    assert jobs(cluster) == [5]


def test_a_finished_job_leaves_the_active_ones_and_is_told() -> None:
    cluster = started()
    cluster.wait(6 * MINUTE)
    complete(cluster)
    name = f"nightly-{FIRST + 5}"
    assert "active" not in status(cluster)
    assert status(cluster)["lastSuccessfulTime"] == "2030-01-01T00:06:00Z"
    assert events(cluster, "CronJob") == [
        ("Normal", "SuccessfulCreate", f"Created job {name} for CronJob default/nightly"),
        ("Normal", "SawCompletedJob", f"Saw completed job: {name} in active, remove"),
    ]


def test_jobs_beyond_the_history_are_deleted_oldest_first() -> None:
    cluster = started(successfulJobsHistoryLimit=1)
    for _ in range(2):
        cluster.wait(5 * MINUTE + SECOND)
        complete(cluster)
    assert jobs(cluster) == [10]


def test_forbid_waits_for_the_running_job_and_then_starts_the_latest_that_was_due() -> None:
    cluster = started(concurrencyPolicy="Forbid")
    cluster.wait(16 * MINUTE)
    assert jobs(cluster) == [5]
    assert any(reason == "ForbidConcurrent" for _, reason, _ in events(cluster, "CronJob"))
    complete(cluster)
    assert jobs(cluster) == [5, 15]


def test_replace_deletes_the_running_job() -> None:
    cluster = started(concurrencyPolicy="Replace")
    cluster.wait(11 * MINUTE)
    assert jobs(cluster) == [10]
    assert [active["name"] for active in status(cluster)["active"]] == [f"nightly-{FIRST + 10}"]


def test_a_suspended_one_creates_nothing() -> None:
    cluster = started(suspend=True)
    cluster.wait(11 * MINUTE)
    assert jobs(cluster) == []


def test_a_time_zone_moves_the_schedule() -> None:
    cluster = started(schedule="30 1 * * *", timeZone="Europe/Berlin")
    cluster.wait(31 * MINUTE)
    assert jobs(cluster) == [30]
    meta = found(cluster.store, JOB, f"nightly-{FIRST + 30}")["metadata"]
    assert meta["annotations"] == {"volcano.sh/cronjob-scheduled-timestamp": "2030-01-01T01:30:00+01:00"}


def test_an_active_job_that_is_gone_is_told() -> None:
    cluster = started()
    cluster.wait(6 * MINUTE)
    cluster.store.delete(kind_of(cluster.store, JOB), f"nightly-{FIRST + 5}", namespace="default", writer="user")
    cluster.work()
    assert "active" not in status(cluster)
    assert events(cluster, "CronJob")[-1][1] == "StaleReference"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"schedule": "61 * * * *"}, "schedule is not a valid cron expression"),
        ({"schedule": "TZ=UTC 1 * * * *"}, "schedule should not contain TZ or CRON_TZ"),
        ({"timeZone": "Mars/Base"}, "invalid timeZone"),
        ({"timeZone": "Local"}, "timeZone can't be Local"),
        ({"name": "n" * 53}, "cronJob name must be no more than 52 characters"),
    ],
)
def test_what_the_controller_could_not_use_is_refused(given: dict[str, str], why: str) -> None:
    cluster = Cluster()
    with pytest.raises(StatusError, match=why):
        create(cluster.store, cron(**given))
