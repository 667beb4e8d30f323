"""A cheap mix of several kinds of nodes, between a bound and every mix of few nodes."""

from itertools import product
from random import Random

import pytest

from seatrial.capacity import find_mix
from seatrial.capacity.nodes import NodeTemplate, Search
from tests.capacity.objects import node, pod, scenario, setting

SMALL, LARGE = node("small", cpu="2"), node("large", cpu="8")


def test_dear_nodes_are_replaced_by_cheap_ones_where_these_are_enough() -> None:
    asked = setting(scenario=scenario(pod("big", cpu="6"), *(pod(f"web-{number}", cpu="2") for number in range(3))))
    answer = find_mix(asked, [(SMALL, 1.0), (LARGE, 5.0)], 64)
    # By hand: the big pod needs a large node, on which one of the others fits; the other two take a small one each.
    assert (answer.counts, answer.price) == ({"small": 2, "large": 1}, 7.0)
    # Twelve cores, at 0.5 a core on small nodes.
    assert answer.bound == 6.0
    assert answer.sentence.startswith("small needs 2 of small and 1 of large, 7 an hour; no mix costs less than 6 (")


def test_a_pod_that_no_kind_takes_is_named() -> None:
    answer = find_mix(setting(scenario=scenario(pod("huge", cpu="9"))), [(SMALL, 1.0), (LARGE, 5.0)], 64)
    assert answer.counts is None
    assert answer.sentence.startswith("No mix that was tried is enough for small: default/huge ")


@pytest.mark.parametrize("seed", range(20))
def test_the_price_is_between_the_bound_and_what_each_kind_alone_costs(seed: int) -> None:
    dice = Random(seed)
    pods = [pod(f"web-{number}", cpu=dice.choice(["500m", "1", "2", "5"])) for number in range(dice.randint(1, 6))]
    asked = setting(scenario=scenario(*pods))
    prices = (dice.choice([1.0, 1.5]), dice.choice([3.0, 5.0]))
    answer = find_mix(asked, [(SMALL, prices[0]), (LARGE, prices[1])], 64)
    assert answer.counts is not None
    search = Search(asked, [NodeTemplate(SMALL), NodeTemplate(LARGE)])
    assert search.is_enough(tuple(answer.counts.values()))
    cheapest = min(
        small * prices[0] + large * prices[1]
        for small, large in product(range(7), range(4)) if search.is_enough((small, large))
    )  # fmt: skip
    assert answer.bound <= cheapest <= answer.price
    assert answer.price <= cheapest * 1.5
