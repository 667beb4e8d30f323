"""Cron expressions and the Jobs they start."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.controllers.cronjob.schedule import Schedule
from seatrial.model.times import MINUTE, SECOND
from tests.controllers.objects import RUN, job
from tests.controllers.replaying import Cluster

MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1)).map(lambda moment: moment.replace(tzinfo=UTC))
SIMPLE = st.sampled_from(["* * * * *", "*/7 3-5 * * *", "0 0 * * 1", "15 12 1,15 * *", "@daily", "5 4 * jan-mar sun"])


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "after", "due"),
    [
        ("* * * * *", "2030-01-01T00:00:30", "2030-01-01T00:01:00"),
        ("30 2 * * *", "2030-01-01T03:00:00", "2030-01-02T02:30:00"),
        ("0 0 1 * *", "2030-01-01T00:00:00", "2030-02-01T00:00:00"),
        ("0 0 29 2 *", "2030-01-01T00:00:00", "2032-02-29T00:00:00"),
        ("0 0 13 * 5", "2030-09-01T00:00:00", "2030-09-06T00:00:00"),
        ("0 0 * * sun", "2030-01-01T00:00:00", "2030-01-06T00:00:00"),
        ("0 0 * * 7", "2030-01-01T00:00:00", "2030-01-06T00:00:00"),
        ("*/20 * * * *", "2030-01-01T00:41:00", "2030-01-01T01:00:00"),
        ("@hourly", "2030-01-01T00:00:00", "2030-01-01T01:00:00"),
        ("@every 90s", "2030-01-01T00:00:00", "2030-01-01T00:01:30"),
    ],
)
def test_the_next_time_is_the_first_that_fits(expression: str, after: str, due: str) -> None:
    assert Schedule(expression).next_after(at(after)) == at(due)


@pytest.mark.parametrize("expression", ["", "* * * *", "60 * * * *", "* * 0 * *", "a * * * *", "5-2 * * * *"])
def test_what_is_no_expression_is_refused(expression: str) -> None:
    with pytest.raises(ValueError):
        Schedule(expression)


def test_a_day_that_never_comes_is_never_due() -> None:
    assert Schedule("0 0 31 2 *").next_after(at("2030-01-01T00:00:00")) is None


@given(SIMPLE, MOMENTS)
def test_times_come_in_order_and_after_the_moment(expression: str, moment: datetime) -> None:
    schedule = Schedule(expression)
    first = schedule.next_after(moment)
    assert first is not None
    assert first > moment
    second = schedule.next_after(first)
    assert second is not None
    assert second > first


@given(SIMPLE, MOMENTS, st.integers(0, 60 * 24 * 40))
def test_the_latest_time_is_the_last_before_now(expression: str, earliest: datetime, minutes: int) -> None:
    schedule, now = Schedule(expression), earliest + timedelta(minutes=minutes)
    latest = schedule.latest(earliest, now)
    if latest is None:
        first = schedule.next_after(earliest)
        assert first is not None
        assert first > now
    else:
        following = schedule.next_after(latest)
        assert earliest < latest <= now
        assert following is not None
        assert following > now


def cronjob(**spec: object) -> dict[str, object]:
    body = {"schedule": "*/5 * * * *", "jobTemplate": {"spec": job(annotations={RUN: "60s"})["spec"]}} | spec
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick"}, "spec": body}


def running(*names: str) -> Cluster:
    from tests.controllers.manifests import node

    cluster = Cluster(["cronjob", "job", "pod", "node", "serviceaccount", "garbagecollector"])
    cluster.create(node("n"))
    cluster.settle()
    return cluster


def test_a_cronjob_starts_a_job_when_its_time_has_come() -> None:
    cluster = running()
    cluster.create(cronjob())
    cluster.settle(4 * MINUTE)
    assert not cluster.all("Job")
    cluster.clock.fire_next(outer=True)
    cluster.work()
    (made,) = cluster.all("Job")
    assert made["metadata"]["name"].startswith("tick-")
    assert made["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"] == "2030-01-01T00:05:00Z"
    status = cluster.get("CronJob", "tick")["status"]
    assert status["lastScheduleTime"] == "2030-01-01T00:05:00Z"
    assert [active["name"] for active in status["active"]] == [made["metadata"]["name"]]


def pass_time(cluster: Cluster, until: int) -> None:
    while (due := cluster.clock.next_outer()) is not None and due <= until:
        cluster.clock.fire_next(outer=True)
        cluster.work()


@pytest.mark.parametrize(("policy", "active"), [("Allow", 3), ("Forbid", 1), ("Replace", 1)])
def test_a_concurrency_policy_says_how_many_run(policy: str, active: int) -> None:
    cluster = running()
    endless = {"spec": job(annotations={RUN: "10h"})["spec"]}
    cluster.create(cronjob(concurrencyPolicy=policy, jobTemplate=endless))
    cluster.settle()
    pass_time(cluster, cluster.clock.now() + 15 * MINUTE + SECOND)
    assert len(cluster.all("Job")) == active


def test_finished_jobs_beyond_the_limit_are_forgotten() -> None:
    cluster = running()
    cluster.create(cronjob(successfulJobsHistoryLimit=2))
    cluster.settle()
    pass_time(cluster, cluster.clock.now() + 30 * MINUTE)
    finished = [made for made in cluster.all("Job") if made.get("status", {}).get("completionTime")]
    assert len(finished) == 2
    assert cluster.get("CronJob", "tick")["status"]["lastSuccessfulTime"] == "2030-01-01T00:26:00Z"
