"""Volcano in a server: what it serves, what it measures, and what is left of it after a scenario."""

from pathlib import Path

import pytest

from seatrial.control_plane.components import Parts, Settings, compose
from seatrial.model import yaml_reader
from seatrial.model.errors import ConfigError
from seatrial.scenario.scenario_resource import status_of
from seatrial.volcano.apis import QUEUE, kind_of
from tests.known_kinds import known_kind
from tests.proofs import proves

SCENARIO = Path(__file__).parents[2] / "examples" / "first-steps" / "scenario.yaml"
MOST_TURNS = 20_000


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
