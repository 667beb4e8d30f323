"""Rules of versions that decide in the queue, which recorded cycles do not have."""

import pytest

from seatrial.scheduler.versions import VERSIONS
from tests.scheduler.scheduler_world import World


@pytest.mark.parametrize(("minor", "attempts"), [("1.34", 1), ("1.35", 1), ("1.36", 1), ("1.37", 0)])
def test_changed_taints_retry_pods_that_other_plugins_rejected(minor: str, attempts: int) -> None:
    world = World(version=VERSIONS[minor])
    world.node("n1", cpu="1")
    world.pod("large", cpu="2")
    world.run()
    taint = {"key": "k", "effect": "PreferNoSchedule"}
    world.change("Node", "n1", lambda node: node["spec"].update(taints=[taint]))
    assert len(world.run()) == attempts
