"""Random whole runs without shortcuts and with them: the same bytes, also where the queue shares answers of hints."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from seatrial.scheduler.evaluator.shortcuts import VARIABLE
from seatrial.scheduler.framework.events import ClusterEvent
from seatrial.scheduler.queue.queueing_hints import Worth
from seatrial.scheduler.queue.scheduling_queue import SchedulingQueue
from seatrial.scheduler.queue.unschedulable_pods import Group
from tests.scenario.playing import create, delete, done, operations, patch
from tests.scenario.running import Run, node, pod, priority_class

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
RUNS, STEPS = 24, 8
TAINT = {"key": "k", "effect": "NoSchedule"}
HUGE = "64"
"""CPUs that no node has: such a pod waits for ever, so that later operations can be about it."""


def selector(choice: random.Random) -> dict[str, Any]:
    return {
        "labelSelector": {"matchLabels": {"app": choice.choice("abc")}},
        "topologyKey": choice.choice((ZONE, HOSTNAME)),
    }


def template(choice: random.Random) -> dict[str, Any]:
    """A spec that few nodes suit."""
    spec: dict[str, Any] = {}
    if choice.random() < 0.2:
        spec["nodeSelector"] = {"disk": choice.choice(("ssd", "hdd", "none"))}
    if choice.random() < 0.2:
        spec["tolerations"] = [{"key": "k", "operator": "Exists"}]
    if choice.random() < 0.2:
        spec["topologySpreadConstraints"] = [
            {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **selector(choice)},
        ]
    if choice.random() < 0.2:
        required = {"requiredDuringSchedulingIgnoredDuringExecution": [selector(choice)]}
        spec["affinity"] = {choice.choice(("podAffinity", "podAntiAffinity")): required}
    if choice.random() < 0.2:
        spec["priorityClassName"] = "high"
    if choice.random() < 0.2:
        claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        spec["volumes"] = [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}]
    if choice.random() < 0.2:
        spec["schedulingGates"] = [{"name": "example.com/wait"}]
    elif choice.random() < 0.2:
        spec["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "late"}}]
    return pod("", choice.choice(("1", "2", "6", HUGE)), **spec)


class Cluster:
    """A random cluster and what happens to it."""

    def __init__(self, seed: int) -> None:
        self.choice = random.Random(seed)
        self.templates = [template(self.choice) for _ in range(4)]
        self.nodes = [self.node(number) for number in range(3)]
        self.waiting: list[dict[str, Any]] = []
        """Pods that are pending whatever the scheduler does."""
        self.pods = 0

    def node(self, number: int) -> dict[str, Any]:
        labels = {ZONE: self.choice.choice("xyz"), "disk": self.choice.choice(("ssd", "hdd"))}
        return node(f"n{number}", self.choice.choice("124"), self.choice.choice("25"), **labels)

    def operations(self) -> Iterator[dict[str, Any]]:
        yield create(1, priority_class("high", 10))
        for each in self.nodes:
            yield create(1, each)
        for step in range(2, STEPS + 2):
            for _ in range(self.choice.randrange(1, 5)):
                act = self.choice.choice((self.wave, self.change_node, self.change_node, self.change_pod, self.other))
                yield from act(step)
        yield done(STEPS + 2)

    def wave(self, step: int) -> Iterator[dict[str, Any]]:
        shape = self.choice.choice(self.templates)
        for _ in range(self.choice.choice((1, 5, 20))):
            self.pods += 1
            labels = {"app": self.choice.choice("abc")} if self.choice.random() < 0.2 else {"app": "a"}
            one = {**shape, "metadata": {"name": f"p{self.pods}", "namespace": "default", "labels": labels}}
            cpu = one["spec"]["containers"][0]["resources"]["requests"]["cpu"]
            if cpu == HUGE or "schedulingGates" in one["spec"]:
                self.waiting.append(one)
            yield create(step, one)

    def change_node(self, step: int) -> Iterator[dict[str, Any]]:
        room = {"cpu": self.choice.choice("1258"), "pods": self.choice.choice("139")}
        labels = {"disk": self.choice.choice(("ssd", "hdd")), ZONE: self.choice.choice("xyz")}
        changes: list[dict[str, Any]] = [
            {"metadata": {"labels": labels}},
            {"spec": {"taints": self.choice.choice((None, [TAINT]))}},
            {"spec": {"unschedulable": self.choice.random() < 0.5}},
            {"status": {"allocatable": room, "capacity": room}},
        ]
        for each in self.nodes:
            yield patch(step, each, self.choice.choices(changes, (3, 1, 1, 3))[0])

    def change_pod(self, step: int) -> Iterator[dict[str, Any]]:
        if not self.waiting:
            return
        one = self.choice.choice(self.waiting)
        if self.choice.random() < 0.4:
            self.waiting.remove(one)
            yield delete(step, one)
            if self.choice.random() < 0.5:
                yield create(step, one)
        elif "schedulingGates" in one["spec"]:
            self.waiting.remove(one)
            yield patch(step, one, {"spec": {"schedulingGates": None}})
        else:
            yield patch(step, one, {"metadata": {"labels": {"app": self.choice.choice("abc")}}})

    def other(self, step: int) -> Iterator[dict[str, Any]]:
        if len(self.nodes) > 2 and self.choice.random() < 0.3:
            yield delete(step, self.nodes.pop())
        else:
            self.nodes.append(self.node(100 * step + self.pods + len(self.nodes)))
            yield create(step, self.nodes[-1])


def played(seed: int) -> tuple[bytes, Any]:
    cells = (0, 30, 20_000)[seed % 3]
    run = Run(operations(*Cluster(seed).operations()), record=("full", "summary")[seed % 2], cells=cells)
    assert run.status["phase"] == "Succeeded", run.status["message"]
    scenario_run = run.simulation.scenario_run
    return b"".join(scenario_run.parts()), scenario_run.timeline.rows.table().collect()


def test_pods_that_share_the_answer_of_a_hint_would_each_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps try all pending pods, so that what a run writes hardly depends on hints: each answer is checked here."""
    monkeypatch.setenv(VARIABLE, "hints")
    shared, may_help = 0, SchedulingQueue._may_help

    def checked(queue: SchedulingQueue, alike: Group, event: ClusterEvent, old: Any, new: Any) -> bool:
        nonlocal shared
        if may_help(queue, alike, event, old, new):
            return True
        for one in alike.pods.values():
            assert queue.hinting.worth(one, event, old, new) is Worth.NOTHING, (seed, event, one.key)
        shared += len(alike.pods) - 1
        return False

    monkeypatch.setattr(SchedulingQueue, "_may_help", checked)
    for seed in range(RUNS):
        played(seed)
    assert shared > 100


@pytest.mark.parametrize("seed", range(4))
def test_a_random_run_writes_the_same_with_shortcuts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "none")
    result, table = played(seed)
    monkeypatch.setenv(VARIABLE, "all")
    assert played(seed)[0] == result
    assert played(seed)[1].equals(table)
