"""Jobs, PodGroups and their pods from templates: the same bytes and the same refusals as the whole way."""

import msgspec
import pytest

from seatrial.controllers.framework import pod_row
from seatrial.controllers.stages.field_reader import Fields
from seatrial.model.errors import StatusError
from seatrial.scheduler.cache import PodInfo, PodReader
from seatrial.store import Stored
from seatrial.store.registry.templates import Templates
from seatrial.volcano.apis import JOB, POD_GROUP, kind_of
from seatrial.volcano.apis.templates import declare_templates
from seatrial.volcano.controllers.job import job_pods
from seatrial.volcano.controllers.job.job_cache import JobCache
from seatrial.volcano.controllers.job.status import read_job
from tests.volcano.cluster import Cluster
from tests.volcano.objects import create, job, queue, task

NAMES = ("a", "b", "c", "d-1", "Bad", "x" * 60, "x" * 64, "a", "e", "f%s", "g")


def played(*, enabled: bool) -> tuple[Cluster, list[str]]:
    """A cluster with Jobs of several names and two shapes, and what was refused."""
    cluster = Cluster()
    cluster.store.templates = Templates(enabled=enabled)
    declare_templates(cluster.store)
    create(cluster.store, queue("team"))
    refusals = []
    for tasks in ([task(replicas=2)], [task("ps"), task("worker", 3, minAvailable=2)]):
        for name in NAMES:
            try:
                cluster.create(job(f"{name}{len(tasks)}", *tasks, queue="team"))
            except StatusError as refusal:
                refusals.append(str(refusal))
        cluster.set_phase("Inqueue")
    return cluster, refusals


def test_templates_change_nothing() -> None:
    (plain, refused), (quick, also_refused) = played(enabled=False), played(enabled=True)
    assert refused == also_refused
    assert [stored.data for stored in plain.store.everything()] == [stored.data for stored in quick.store.everything()]
    assert quick.store.templates.used > 20


def test_what_is_read_of_jobs_and_groups_from_templates_is_what_they_say() -> None:
    """Their status is known without decoding them, before and after it is written."""
    cluster, _ = played(enabled=True)
    known_jobs, plain = JobCache(), JobCache()
    for when in ("created", "run"):
        jobs, groups = (cluster.store.list(kind_of(cluster.store, named)) for named in (JOB, POD_GROUP))
        known = [stored.facets for stored in (*jobs, *groups) if stored.facets is not None]
        assert len(known) > 10, when
        for stored in (*jobs, *groups):
            assert stored.encoded_status == bare(stored).encoded_status
        assert [known_jobs.put_job(stored).view for stored in jobs] == [read_job(bare(stored)) for stored in jobs]
        assert [known_jobs.put_group(one) for one in groups] == [plain.put_group(bare(one)) for one in groups]
        cluster.run()


def test_what_is_read_of_pods_from_templates_is_what_they_say() -> None:
    """Pods of one template are decoded once, though each belongs to a Job of its own."""
    cluster, _ = played(enabled=True)
    shared = [("metadata", "finalizers"), ("spec", "nodeName"), ("spec", "schedulerName"), ("status", "phase")]
    fields = Fields(shared), Fields([*shared, ("metadata", "labels")])
    pod_kind, reader = kind_of(cluster.store, ("v1", "Pod")), PodReader()
    created = cluster.store.list(pod_kind)
    templates = {stored.shape.template for stored in created if stored.shape is not None}
    assert len(templates - {None}) == 3
    bound = [cluster.store.bind(stored.namespace, stored.name, "node", writer="test") for stored in created]
    for stored in (*created, *bound):
        assert pod_row.read_pod(stored) == pod_row.read_pod(bare(stored))
        assert job_pods.read_pod(stored) == job_pods.read_pod(bare(stored))
        assert [each.read(stored) for each in fields] == [each.read(bare(stored)) for each in fields]
        assert seen(reader.of(stored)) == seen(PodReader().of(bare(stored)))


def seen(pod: PodInfo) -> tuple[object, ...]:
    """What schedulers read of a pod."""
    shape = pod.shape
    read = {key: value for key, value in msgspec.structs.asdict(pod).items() if key != "shape"}
    return read, shape.namespace, dict(shape.labels), shape.spec, shape.owner


def bare(stored: Stored) -> Stored:
    """An object of which no more is known than its bytes."""
    return msgspec.structs.replace(stored, facets=None, views=None)


def test_a_closed_queue_is_seen_by_a_job_like_others_before_it() -> None:
    cluster, _ = played(enabled=True)
    kind = next(kind for kind in cluster.store.kinds if kind.kind == "Queue")
    cluster.store.modify(
        kind, "team", lambda document: document["status"].update(state="Closed"), writer="test", subresource="status"
    )
    with pytest.raises(StatusError, match="can only submit job to queue with state `Open`"):
        cluster.create(job("late1", task(replicas=2), queue="team"))
