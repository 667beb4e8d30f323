"""What a decision says in short: the best nodes, and the points that have nothing to do."""

import random

import numpy as np
import pytest

from seatrial.scheduler.cache.row_names import NodeNames, RowNames
from seatrial.scheduler.schedule_one.decision import SCHEDULED, Decision
from tests.scheduler.scheduler_world import World


@pytest.mark.parametrize("factor", [1, 1 << 55])
@pytest.mark.parametrize("seed", range(20))
def test_the_best_nodes_have_the_highest_totals_and_of_equal_ones_the_first_names(seed: int, factor: int) -> None:
    dice = random.Random(seed)
    names = [f"n{number:03}" for number in range(200)]
    dice.shuffle(names)
    rows = dice.sample(range(200), dice.randint(1, 60))
    totals = [dice.randint(-3, 3) * factor for _ in rows]
    listed = RowNames(np.asarray(names, object))
    decision = Decision(
        "default/p", "u", "default-scheduler", SCHEDULED,
        feasible=NodeNames(listed, np.asarray(rows, np.intp)), total=np.asarray(totals, np.int64),
    )  # fmt: skip
    by_name = [(names[row], total) for row, total in zip(rows, totals, strict=True)]
    assert decision.best() == sorted(by_name, key=lambda one: (-one[1], one[0]))[:3]


def test_the_record_lists_reserve_and_pre_bind_for_a_pod_that_they_have_nothing_to_do_for() -> None:
    world = World()
    world.node("n1")
    world.pod("a")
    (decision,) = world.run()
    assert decision.points == {
        "reserve": (("VolumeBinding", "success"), ("DynamicResources", "success")),
        "preBind": (),
        "bind": (("DefaultBinder", "success"),),
    }


def test_without_a_pre_flight_the_record_lists_the_plugins_of_pre_bind() -> None:
    world = World(gates={"NominatedNodeNameForExpectation": False})
    world.node("n1")
    world.pod("a")
    (decision,) = world.run()
    assert decision.points["preBind"] == (("VolumeBinding", "success"), ("DynamicResources", "success"))
