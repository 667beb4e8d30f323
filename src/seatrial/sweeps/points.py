"""The points of a sweep: one run each, numbered in an order that depends on the file alone."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import floor, prod
from typing import Any

from seatrial.model.documents import encode
from seatrial.model.errors import ConfigError
from seatrial.sweeps.spec import Axis, Range, Search, SweepSpec

MOST_POINTS = 100_000
TRIES = 100
"""Draws of a random search, for each setting it shall have, before it is content with fewer."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A point without its seed."""

    scenario: str
    config: str
    values: tuple[Any, ...]
    """One for each axis."""


@dataclass(frozen=True, slots=True)
class Point:
    """One run."""

    number: int
    setting: Setting
    seed: int


def points_of(spec: SweepSpec) -> list[Point]:
    """All points of a sweep; ConfigError where there are too many."""
    grid = not isinstance(spec.search, Search)
    settings = prod(
        [len(spec.scenarios), len(spec.scheduler_configs), *(_count(axis) for axis in spec.axes)]
        if grid
        else [spec.search.random if isinstance(spec.search, Search) else 0]
    )
    if settings * len(spec.all_seeds) > MOST_POINTS:
        why = f"{settings * len(spec.all_seeds)} points, a sweep has at most {MOST_POINTS}: search at random"
        raise ConfigError("", "search", why)
    found = _grid(spec) if grid else _drawn(spec)
    pairs = product(found, spec.all_seeds)
    return [Point(number, setting, seed) for number, (setting, seed) in enumerate(pairs)]


def _grid(spec: SweepSpec) -> Iterator[Setting]:
    choices = [_values(axis) for axis in spec.axes]
    for scenario, config, *values in product(spec.scenarios, spec.scheduler_configs, *choices):
        yield Setting(scenario, config, tuple(values))


def _drawn(spec: SweepSpec) -> Iterator[Setting]:
    """Settings drawn at random, each once; fewer than asked for where the space has no more."""
    assert isinstance(spec.search, Search)
    draws = random.Random(spec.search.seed)
    seen: set[bytes] = set()
    for _ in range(TRIES * spec.search.random):
        values = tuple(_draw(axis, draws) for axis in spec.axes)
        setting = Setting(draws.choice(spec.scenarios), draws.choice(spec.scheduler_configs), values)
        key = encode([setting.scenario, setting.config, *values])
        if key not in seen:
            seen.add(key)
            yield setting
        if len(seen) == spec.search.random:
            return


def _draw(axis: Axis, draws: random.Random) -> Any:
    bounds = axis.range
    if bounds is None:
        return draws.choice(axis.values)
    if bounds.step is not None:
        return _at(bounds, draws.randrange(_count(axis)))
    if isinstance(bounds.start, int) and isinstance(bounds.end, int):
        return draws.randint(bounds.start, bounds.end)
    return draws.uniform(bounds.start, bounds.end)


def _values(axis: Axis) -> list[Any]:
    if axis.range is None:
        return axis.values
    return [_at(axis.range, place) for place in range(_count(axis))]


def _count(axis: Axis) -> int:
    """How many values an axis has in a grid."""
    if axis.range is None:
        return len(axis.values)
    step = axis.range.step or 1
    # A tenth is no binary fraction: without the slack 0 to 1 by 0.1 would end at 0.9.
    return floor((axis.range.end - axis.range.start) / step + 1e-9) + 1


def _at(bounds: Range, place: int) -> int | float:
    value = bounds.start + place * (bounds.step or 1)
    return value if isinstance(value, int) else round(value, 12)
