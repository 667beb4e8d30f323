"""The events that controllers write in a live cluster, and how equal ones are counted."""

from typing import Any

import pytest

from seatrial.clock import Clock
from seatrial.controllers.framework import EventRecorder
from seatrial.controllers.registry import build_controllers, controller_names
from seatrial.model.times import SECOND
from seatrial.scenario.cluster import fresh_store
from tests.controllers.manifests import node
from tests.controllers.objects import RUN, daemonset, deployment, job, pod
from tests.controllers.replaying import Cluster
from tests.known_kinds import known_kind


class LiveCluster(Cluster):
    """A cluster whose controllers write events."""

    def __init__(self) -> None:
        super().__init__([])
        recorder = EventRecorder(self.store, self.clock)
        self.controllers = build_controllers(self.store, self.clock, controller_names(), events=recorder)
        for controller in self.controllers:
            controller.start()
        self.create(node("n0"))

    def events(self, kind: str) -> list[tuple[str, str, str]]:
        """Source, reason and message of the events about a kind, in order."""
        self.work()
        found = [event for event in self.all("Event") if event["involvedObject"]["kind"] == kind]
        found.sort(key=lambda event: int(event["metadata"]["name"].rpartition(".")[2], 16))
        return [(event["source"]["component"], event["reason"], event["message"]) for event in found]


@pytest.fixture
def live() -> LiveCluster:
    return LiveCluster()


def test_a_deployment_says_how_it_scales_its_replica_sets(live: LiveCluster) -> None:
    live.create(deployment(replicas=2))
    live.work()
    (replica_set,) = live.all("ReplicaSet")
    name = replica_set["metadata"]["name"]
    live.patch({"kind": "Deployment", "name": "web", "body": {"spec": {"replicas": 1}}})
    assert live.events("Deployment") == [
        ("deployment-controller", "ScalingReplicaSet", f"Scaled up replica set {name} from 0 to 2"),
        ("deployment-controller", "ScalingReplicaSet", f"Scaled down replica set {name} from 2 to 1"),
    ]
    reasons = [(source, reason) for source, reason, _ in live.events("ReplicaSet")]
    assert reasons == [
        ("replicaset-controller", "SuccessfulCreate"),
        ("replicaset-controller", "SuccessfulCreate"),
        ("replicaset-controller", "SuccessfulDelete"),
    ]


def test_a_daemon_set_says_which_pod_it_created(live: LiveCluster) -> None:
    live.create(daemonset())
    ((source, reason, message),) = live.events("DaemonSet")
    assert (source, reason) == ("daemonset-controller", "SuccessfulCreate")
    assert message == f"Created pod: {live.all('Pod')[0]['metadata']['name']}"


def test_a_pod_that_a_quota_forbids_is_a_warning(live: LiveCluster) -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}}
    live.create(quota)
    live.work()
    live.create(deployment(replicas=1))
    (first, *_) = live.events("ReplicaSet")
    assert first[:2] == ("replicaset-controller", "FailedCreate")
    assert "exceeded quota: q" in first[2]


def test_a_job_says_that_it_is_complete(live: LiveCluster) -> None:
    live.create(job(annotations={RUN: "5s"}))
    live.settle()
    while (due := live.clock.next_outer()) is not None and due < live.clock.now() + 60_000_000:
        live.clock.fire_next(outer=True)
        live.work()
    assert ("job-controller", "Completed", "Job completed") in live.events("Job")


def test_a_taint_that_evicts_is_an_event_about_the_pod(live: LiveCluster) -> None:
    live.create(pod("a", nodeName="n0"))
    live.work()
    taint = {"key": "k", "effect": "NoExecute"}
    live.patch({"kind": "Node", "name": "n0", "body": {"spec": {"taints": [taint]}}})
    expected = ("taint-eviction-controller", "TaintManagerEviction", "Marking for deletion Pod default/a")
    assert live.events("Pod") == [expected]


def test_the_controllers_of_a_run_write_no_events() -> None:
    cluster = Cluster()
    cluster.create(node("n0"), deployment())
    cluster.settle()
    assert {event["reason"] for event in cluster.all("Event")} == {"Scheduled"}


class Recorded:
    """A recorder and one ConfigMap that events are about."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.store = fresh_store(self.clock)
        self.recorder = EventRecorder(self.store, self.clock)
        self.kind = known_kind(self.store.kinds, "v1", "ConfigMap")

    def record(self, message: str) -> None:
        about = {"metadata": {"name": "c", "namespace": "default", "uid": "1"}}
        self.recorder.record("test", self.kind, about, "Normal", "Reason", message)

    def events(self) -> list[dict[str, Any]]:
        kind = known_kind(self.store.kinds, "v1", "Event")
        return [stored.document() for stored in self.store.list(kind)]


def test_equal_events_are_counted() -> None:
    recorded = Recorded()
    for _ in range(3):
        recorded.record("again")
    (event,) = recorded.events()
    assert (event["count"], event["message"]) == (3, "again")


def test_one_source_writes_so_many_events_about_an_object() -> None:
    recorded = Recorded()
    for _ in range(40):
        recorded.record("again")
    assert recorded.events()[0]["count"] == 25
    recorded.clock.advance(recorded.clock.now() + 300 * SECOND)
    for _ in range(3):
        recorded.record("again")
    assert recorded.events()[0]["count"] == 26


def test_many_similar_events_are_combined() -> None:
    recorded = Recorded()
    for number in range(12):
        recorded.record(f"number {number}")
    messages = [event["message"] for event in recorded.events()]
    assert len(messages) == 10
    assert messages[-1] == "(combined from similar events): number 11"


def test_a_schedule_without_a_time_is_a_warning(live: LiveCluster) -> None:
    spec = {"schedule": "0 0 31 2 *", "jobTemplate": {"spec": job()["spec"]}}
    live.create({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "never"}, "spec": spec})
    why = "invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second"
    assert live.events("CronJob") == [("cronjob-controller", "InvalidSchedule", why)]
