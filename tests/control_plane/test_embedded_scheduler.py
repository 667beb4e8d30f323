"""The scheduler inside `serve`: its configuration can be exchanged, its metrics read."""

from pathlib import Path
from typing import Any

import pytest

from seatrial.clock.virtual import Clock
from seatrial.control_plane.scheduler import EmbeddedScheduler
from seatrial.model.errors import BadRequest
from seatrial.scenario.cluster import fresh_store
from tests.known_kinds import known_kind
from tests.proofs import proves


class Server:
    """A store with an embedded scheduler."""

    def __init__(self, config: Path | None = None) -> None:
        clock = Clock()
        self.store = fresh_store(clock)
        self.embedded = EmbeddedScheduler.build(self.store, clock, (config, "", ""), ())

    def create(self, kind: str, name: str, **more: Any) -> None:
        namespace = "default" if kind == "Pod" else ""
        metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
        document = {"apiVersion": "v1", "kind": kind, "metadata": metadata, **more}
        named = known_kind(self.store.kinds, "v1", kind)
        self.store.create(named, document, writer="user:test", namespace=namespace)

    def node(self, name: str) -> None:
        amounts = {"cpu": "4", "memory": "8Gi", "pods": "110"}
        self.create("Node", name, status={"capacity": amounts, "allocatable": amounts})

    def pod(self, name: str) -> str:
        """Create a pod and let it be scheduled; the node it got."""
        self.create("Pod", name, spec={"containers": [{"name": "c", "image": "i"}]})
        while self.embedded.has_work():
            self.embedded.work()
        kind = known_kind(self.store.kinds, "v1", "Pod")
        return str(self.store.get(kind, name, "default").document()["spec"].get("nodeName", ""))


def test_another_configuration_is_in_force_at_once() -> None:
    server = Server()
    server.node("n1")
    server.embedded.restart(
        {"profiles": [{"plugins": {"score": {"enabled": [{"name": "ImageLocality", "weight": 7}]}}}]}
    )
    score = server.embedded.configuration()["profiles"][0]["plugins"]["score"]
    assert score["enabled"] == [{"name": "ImageLocality", "weight": 7}]
    assert server.pod("a") == "n1"


@proves("MP-044")
@pytest.mark.parametrize(
    "bad",
    [
        {"profiles": [{"plugins": {"score": {"enabled": [{"name": "Nobody"}]}}}]},
        {"profiles": [{"nonsense": 1}]},
        {"profiles": [{"schedulerName": "a"}, {"schedulerName": "a"}]},
    ],
)
def test_a_bad_configuration_is_refused_and_the_old_one_stays_in_force(bad: Any) -> None:
    server = Server()
    server.node("n1")
    before = server.embedded.configuration()
    with pytest.raises(BadRequest):
        server.embedded.restart(bad)
    assert server.embedded.configuration() == before
    assert server.pod("a") == "n1"


@proves("MP-045")
def test_metrics_count_attempts_by_result() -> None:
    server = Server()
    server.pod("lost")
    server.node("n1")
    server.pod("a")
    text = server.embedded.metrics()
    assert 'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 2' in text
    assert (
        'scheduler_scheduling_attempt_duration_seconds_count{profile="default-scheduler",result="scheduled"} 2' in text
    )
    assert 'scheduler_pending_pods{queue="active"} 0' in text
