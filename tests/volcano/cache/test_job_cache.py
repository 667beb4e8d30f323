"""What the cache keeps between sessions is what a cache that has just read the cluster has."""

import random
from typing import Any

import pytest

from seatrial.clock.virtual import Clock
from seatrial.controllers.registry import build_controllers
from seatrial.store.store import Store
from seatrial.volcano.apis import JOB, POD_GROUP, kind_of
from seatrial.volcano.cache.cluster_info import ClusterInfo
from seatrial.volcano.cache.scheduler_cache import SchedulerCache
from seatrial.volcano.controllers.registry import build_controllers as volcano_controllers
from seatrial.volcano.scheduler import VolcanoScheduler
from tests.known_kinds import known_kind
from tests.volcano.objects import create, job, queue, task, volcano_store

Picture = dict[str, object]


def picture(cluster: ClusterInfo) -> Picture:
    """All that a session reads of jobs, tasks and nodes."""
    jobs = {
        uid: (
            found.priority,
            found.queue,
            found.pod_group.phase,
            found.pod_group.conditions,
            found.pod_group.spec,
            str(found.allocated),
            sorted(found.sub_jobs),
            {t.key: (t.status, t.node_name, t.request_key, t.priority, t.pod.phase) for t in found.index},
            (found.index.ready, found.index.waiting, found.index.best_effort),
            (found.job_fit_errors, found.nodes_fit_errors),
        )
        for uid, found in cluster.jobs.items()
    }
    nodes = {node.name: (str(node.idle), str(node.releasing), sorted(node.tasks)) for node in cluster.nodes}
    return {"jobs": jobs, "order": list(cluster.jobs), "nodes": nodes}


def node(name: str, cpu: str) -> dict[str, object]:
    amounts = {"cpu": cpu, "memory": "64Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


class Play:
    """A cluster of four nodes with all controllers and the scheduler."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.store: Store = volcano_store(self.clock)
        for number in range(4):
            create(self.store, node(f"n{number}", "4"))
        create(self.store, queue("team", weight=2))
        self.scheduler = VolcanoScheduler(self.store, self.clock)
        self.actors: list[Any] = [
            volcano_controllers(self.store, self.clock),
            *build_controllers(self.store, self.clock),
            self.scheduler,
        ]
        for actor in self.actors:
            actor.start()

    def act(self, chance: random.Random, number: int) -> None:
        """One random change of the cluster, a few turns of its controllers, and perhaps a session."""
        jobs = self.store.list(kind_of(self.store, JOB))
        pods = self.store.list(known_kind(self.store.kinds, "v1", "Pod"))
        match chance.randrange(6):
            case 0 | 1:
                size = chance.randint(1, 4)
                tasks = [task(replicas=size, minAvailable=chance.randint(1, size))]
                create(self.store, job(f"job-{number}", *tasks, queue=chance.choice(("default", "team"))))
            case 2 if jobs:
                gone = chance.choice(jobs)
                self.store.delete(gone.kind, gone.name, namespace=gone.namespace, writer="user")
            case 3 if pods:
                gone = chance.choice(pods)
                self.store.delete(gone.kind, gone.name, namespace=gone.namespace, writer="user")
            case 4:
                groups = self.store.list(kind_of(self.store, POD_GROUP))
                for stored in groups[:1]:
                    self.store.modify(
                        stored.kind,
                        stored.name,
                        lambda document: document["metadata"].setdefault("labels", {}).update(seen=str(number)),
                        writer="user",
                        namespace=stored.namespace,
                    )
        for _ in range(chance.randint(1, 30)):
            for actor in self.actors:
                actor.work()
        if chance.random() < 0.5:
            self.clock.fire_next(outer=True)


@pytest.mark.parametrize("seed", range(6))
def test_kept_jobs_are_those_of_a_fresh_cache(seed: int) -> None:
    play, chance = Play(), random.Random(seed)
    for number in range(40):
        play.act(chance, number)
        now = play.clock.now()
        fresh = SchedulerCache(play.store)
        fresh.start()
        assert picture(play.scheduler.cache.snapshot(now)) == picture(fresh.snapshot(now))
        fresh.stop()
