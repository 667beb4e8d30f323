"""Volcano in a server: what it serves, what it measures, and what is left of it after a scenario."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from seatrial.control_plane.components import Parts, Settings, compose
from seatrial.control_plane.volcano import MeasuredScheduler
from seatrial.model import yaml_reader
from seatrial.model.errors import ConfigError
from seatrial.scenario.scenario_resource import status_of
from seatrial.volcano.apis import POD_GROUP, QUEUE, kind_of
from tests.known_kinds import known_kind
from tests.proofs import proves
from tests.volcano.objects import create, found, pod_group, queue
from tests.volcano.plugins.test_extender import Endpoint

SCENARIO = Path(__file__).parents[2] / "examples" / "first-steps" / "scenario.yaml"
MOST_TURNS = 20_000
CONF = """\
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
  - name: extender
    arguments:
      extender.urlPrefix: {url}
      extender.httpTimeout: 60s
      extender.jobEnqueueableVerb: jobEnqueueable
"""


def work(parts: Parts) -> None:
    for _ in range(MOST_TURNS):
        if not any(worker.has_work() and worker.work() for worker in parts.workers):
            return
    raise AssertionError("the server does not come to rest")


def test_a_scenario_leaves_a_cluster_with_the_built_in_queues() -> None:
    parts = compose(Settings(port=0, record="none", volcano=True))
    document = yaml_reader.load(SCENARIO.read_text())
    kind = known_kind(parts.store.kinds, document["apiVersion"], "Scenario")
    parts.store.create(kind, document, writer="user")
    work(parts)
    (stored,) = parts.store.list(kind)
    assert status_of(stored)["phase"] == "Succeeded"
    queues = parts.store.list(kind_of(parts.store, QUEUE))
    assert [queue.name for queue in queues] == ["default", "root"]


@proves("VC-043")
def test_sessions_are_measured() -> None:
    """The metrics of the scheduling process, by upstream's names."""
    parts = compose(Settings(port=0, record="none", volcano=True))
    work(parts)
    text = "".join(page() for page in parts.metrics)
    assert 'volcano_e2e_scheduling_latency_milliseconds_bucket{le="+Inf"} 1' in text
    assert 'volcano_schedule_attempts_total{result="scheduled"} 0' in text


def test_a_configuration_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        compose(Settings(port=0, record="none", volcano=True, volcano_config=tmp_path / "none"))


def test_a_slow_extender_does_not_hold_up_the_server(tmp_path: Path) -> None:
    """The session gives its turn away until the answer is there, and is abandoned where its scheduler is stopped."""
    let_go, endpoint = threading.Event(), Endpoint()
    endpoint.answers["jobEnqueueable"] = lambda body: {"status": 1} if let_go.wait(60) else {"status": -1}
    thread = threading.Thread(target=endpoint.serve_forever, args=(0.01,))
    thread.start()
    try:
        conf = tmp_path / "volcano.conf"
        conf.write_text(CONF.format(url=endpoint.url))
        parts = compose(Settings(port=0, record="none", volcano=True, volcano_config=conf))
        create(parts.store, pod_group("waits", minResources={"cpu": "1"}))
        volcano = next(worker for worker in parts.workers if isinstance(worker, MeasuredScheduler))
        assert not volcano.work()
        assert not volcano.has_work()
        create(parts.store, queue("meanwhile"))
        let_go.set()
        work_until(parts, lambda: found(parts.store, POD_GROUP, "waits").get("status", {}).get("phase") == "Inqueue")
        let_go.clear()
        create(parts.store, pod_group("late", minResources={"cpu": "1"}))
        work_until(parts, lambda: len(endpoint.bodies("jobEnqueueable")) == 2)
        volcano.stop()
        let_go.set()
        work_until(parts, lambda: not volcano.has_work())
        assert "phase" not in found(parts.store, POD_GROUP, "late").get("status", {})
    finally:
        let_go.set()
        endpoint.shutdown()
        thread.join()
        endpoint.server_close()


def work_until(parts: Parts, is_done: Callable[[], bool]) -> None:
    for _ in range(12_000):
        if is_done():
            return
        if not any(worker.has_work() and worker.work() for worker in parts.workers):
            time.sleep(0.005)
    raise AssertionError("never done")
