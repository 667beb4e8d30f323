"""A finished Volcano Job is deleted when its time is over."""

import pytest

from seatrial.model.times import SECOND
from seatrial.volcano.apis import JOB, kind_of
from tests.volcano.cluster import Cluster
from tests.volcano.objects import job, task


def finished(**spec: object) -> Cluster:
    cluster = Cluster()
    cluster.create(job("train", task(replicas=1), **spec))
    cluster.set_phase("Inqueue")
    cluster.run()
    cluster.end("train-work-0", "Succeeded")
    cluster.work()
    return cluster


def jobs(cluster: Cluster) -> int:
    return len(cluster.store.list(kind_of(cluster.store, JOB)))


@pytest.mark.parametrize(("seconds", "left"), [(59, 1), (61, 0)])
def test_a_finished_job_goes_with_its_pods_after_its_ttl(seconds: int, left: int) -> None:
    cluster = finished(ttlSecondsAfterFinished=60)
    cluster.wait(seconds * SECOND)
    assert (jobs(cluster), len(cluster.pods())) == (left, left)


def test_a_finished_job_without_a_ttl_stays() -> None:
    cluster = finished()
    cluster.wait(3600 * SECOND)
    assert jobs(cluster) == 1


def test_a_job_that_runs_is_not_deleted() -> None:
    cluster = Cluster()
    cluster.create(job("train", task(replicas=1), ttlSecondsAfterFinished=1))
    cluster.set_phase("Inqueue")
    cluster.run()
    cluster.wait(60 * SECOND)
    assert jobs(cluster) == 1
