"""The controllers by name, and how they are driven."""

import re
from pathlib import Path

import pytest

from seatrial.clock.virtual import Clock
from seatrial.controllers.registry import OFF_BY_DEFAULT, build_controllers, controller_names
from seatrial.model.errors import ConfigError
from seatrial.scenario.cluster import fresh_store
from tests.controllers.objects import deployment
from tests.controllers.replaying import Cluster

PAGE = Path(__file__).parents[2] / "docs" / "controllers.md"


def test_every_controller_is_named_once_and_documented() -> None:
    listed = PAGE.read_text().partition("prints the names: ")[2].partition(", and `scheduler`")[0]
    assert sorted(controller_names()) == sorted(re.findall("`([a-z]+)`", listed))


def test_what_acts_by_the_clock_alone_or_beside_scheduling_is_off_by_default() -> None:
    clock = Clock()
    names = [controller.name for controller in build_controllers(fresh_store(clock), clock)]
    assert set(controller_names()) - set(names) == OFF_BY_DEFAULT
    off = PAGE.read_text().partition("All but ")[2].partition(" are on by\ndefault")[0]
    assert set(re.findall("`([a-z]+)`", off)) == OFF_BY_DEFAULT


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    clock = Clock()
    with pytest.raises(ConfigError, match=r"'gardener' is not known; known are .*deployment"):
        build_controllers(fresh_store(clock), clock, ["gardener"])


def test_a_waiter_is_satisfied_when_nothing_is_left_to_do() -> None:
    cluster = Cluster()
    cluster.settle()
    assert all(controller.wait_condition() for controller in cluster.controllers)
    cluster.create(deployment())
    waiting = {controller.name for controller in cluster.controllers if not controller.wait_condition()}
    assert waiting == {"deployment"}


def test_a_stopped_controller_does_nothing_and_can_be_started_again() -> None:
    cluster = Cluster()
    cluster.settle()
    for controller in cluster.controllers:
        controller.stop()
    cluster.create(deployment(replicas=2))
    cluster.settle()
    assert not cluster.all("ReplicaSet")
    for controller in cluster.controllers:
        controller.start()
    cluster.settle()
    assert len(cluster.all("Pod")) == 2


def test_a_refused_write_is_tried_again_when_there_may_be_room() -> None:
    cluster = Cluster()
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}}
    cluster.create(quota, deployment(replicas=2))
    cluster.settle()
    assert len(cluster.all("Pod")) == 1
    cluster.patch({"kind": "ResourceQuota", "name": "q", "body": {"spec": {"hard": {"pods": "5"}}}})
    cluster.settle()
    assert len(cluster.all("Pod")) == 2
    conditions = cluster.all("ReplicaSet")[0]["status"].get("conditions", [])
    assert not conditions


def test_the_same_steps_leave_the_same_bytes() -> None:
    def play() -> list[bytes]:
        cluster = Cluster()
        cluster.create(deployment(replicas=4))
        cluster.settle()
        cluster.patch({"kind": "Deployment", "name": "web", "body": {"spec": {"replicas": 1}}})
        cluster.settle()
        return [stored.data for stored in cluster.store.everything()]

    assert play() == play()
