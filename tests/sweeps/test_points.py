"""Grid and random search."""

from typing import Any

import msgspec
import pytest

from seatrial.model.errors import ConfigError
from seatrial.sweeps.points import points_of
from seatrial.sweeps.spec import SweepSpec


def points(**fields: Any) -> list[tuple[Any, ...]]:
    spec = msgspec.convert({"scenarios": ["s.yaml"], **fields}, SweepSpec)
    return [(*point.setting.values, point.seed) for point in points_of(spec)]


def ranged(**bounds: float) -> dict[str, Any]:
    return {"name": "x", "scenario": "spec.x", "range": {key.rstrip("_"): value for key, value in bounds.items()}}


def test_a_grid_has_every_combination_once() -> None:
    axes = [{"name": "a", "config": "a", "values": [1, 2]}, {"name": "b", "config": "b", "values": ["x", "y"]}]
    assert points(axes=axes, seeds=2) == [(a, b, seed) for a in (1, 2) for b in ("x", "y") for seed in (0, 1)]


def test_scenarios_and_configurations_are_varied_too() -> None:
    assert len(points(scenarios=["a.yaml", "b.yaml"], schedulerConfigs=["default", "c.yaml"], seeds=[7, 9])) == 8


def test_a_range_includes_both_bounds() -> None:
    assert points(axes=[ranged(from_=0, to=1, step=0.1)])[-1] == (1.0, 0)
    assert points(axes=[ranged(from_=1, to=7, step=3)]) == [(1, 0), (4, 0), (7, 0)]


def test_a_random_search_is_the_same_in_every_run() -> None:
    fields: dict[str, Any] = {"axes": [ranged(from_=0.0, to=1.0)], "search": {"random": 5, "seed": 3}, "seeds": 2}
    first = points(**fields)
    assert len(first) == 10
    assert first == points(**fields)
    assert first != points(**{**fields, "search": {"random": 5, "seed": 4}})
    assert all(0 <= value <= 1 for value, _ in first)


def test_a_random_search_draws_no_setting_twice() -> None:
    found = points(axes=[ranged(from_=1, to=3)], search={"random": 10})
    assert sorted(found) == [(1, 0), (2, 0), (3, 0)]


def test_too_many_points_are_refused() -> None:
    with pytest.raises(ConfigError, match="at most"):
        points(axes=[ranged(from_=0, to=1, step=0.000001)])
