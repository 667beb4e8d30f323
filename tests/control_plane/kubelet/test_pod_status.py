"""A running pod reports the generation that its kubelet has seen, and ends at its deadline."""

from typing import Any

import pytest

from seatrial.clock import Clock
from seatrial.control_plane.kubelet.pod_status import PodStatus
from seatrial.controllers.framework import Context, PodIndex
from seatrial.model.times import SECOND, to_time
from seatrial.scenario.cluster import fresh_store
from seatrial.store.options import Patch
from tests.controllers.objects import pod
from tests.known_kinds import known_kind


class Reports:
    """One pod, and the controller of its status."""

    def __init__(self, **spec: Any) -> None:
        self.clock = Clock()
        self.store = fresh_store(self.clock)
        self.kind = known_kind(self.store.kinds, "v1", "Pod")
        self.controller = PodStatus(Context(self.store, self.clock, PodIndex(self.store)))
        self.controller.start()
        self.store.create(self.kind, pod("a", nodeName="n", **spec), namespace="default", writer="user:test")
        ready = {"type": "Ready", "status": "True"}
        status = {"phase": "Running", "startTime": to_time(self.clock.now()), "conditions": [ready]}
        self.patch({"status": status}, "status")

    def patch(self, body: dict[str, Any], subresource: str = "") -> None:
        self.store.patch(
            self.kind, "a", Patch("merge", body), namespace="default", subresource=subresource, writer="user:test"
        )
        self.work()

    def work(self) -> None:
        while self.controller.work():
            pass

    def get(self) -> dict[str, Any]:
        return self.store.get(self.kind, "a", "default").document()


@pytest.fixture
def reports() -> Reports:
    return Reports()


def test_the_generation_is_observed(reports: Reports) -> None:
    assert reports.get()["status"]["observedGeneration"] == 1
    reports.patch({"spec": {"activeDeadlineSeconds": 600}})
    found = reports.get()
    assert found["metadata"]["generation"] == 2
    assert found["status"]["observedGeneration"] == 2
    assert found["status"]["conditions"][0]["observedGeneration"] == 2


def test_an_ephemeral_container_is_started(reports: Reports) -> None:
    container = {"name": "debug", "image": "busybox"}
    reports.patch({"spec": {"ephemeralContainers": [container]}}, "ephemeralcontainers")
    (status,) = reports.get()["status"]["ephemeralContainerStatuses"]
    assert status["name"] == "debug"
    assert "running" in status["state"]


def test_a_pod_that_runs_already_is_left_as_it_is(reports: Reports) -> None:
    reports.controller.stop()
    reports.patch({"metadata": {"labels": {"a": "b"}}})
    before = reports.store.revision
    reports.controller.start()
    reports.work()
    assert reports.store.revision == before


def test_a_pod_fails_at_its_deadline() -> None:
    reports = Reports(activeDeadlineSeconds=30)
    started = reports.clock.now()
    reports.clock.fire_next(outer=True)
    reports.work()
    assert reports.clock.now() == started + 30 * SECOND
    status = reports.get()["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")
    assert status["conditions"][0]["status"] == "False"
