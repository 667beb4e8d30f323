"""Throughput from scheduling events, by the rules of the seed."""

import random

import pytest

from seatrial.vcsim.throughput import NoSchedulingEvents, measure


def test_throughput_is_all_events_over_the_window() -> None:
    """VC-041: 101 events over 10 s are 10.1 pods per second."""
    assert measure([index / 10 for index in range(101)]).average == pytest.approx(10.1)


def test_the_window_goes_from_the_first_event_to_the_last() -> None:
    """VC-039: events in any order give the same window."""
    moments = [100 + index / 10 for index in range(101)]
    shuffled = list(moments)
    random.Random(1).shuffle(shuffled)
    assert measure(shuffled) == measure(moments)


def test_fractions_of_a_second_count() -> None:
    """VC-040: three events within half a second are 6 pods per second."""
    assert measure([7.25, 7.5, 7.75]).average == pytest.approx(6.0)


def test_pods_are_counted_in_each_second() -> None:
    """VC-020, VC-036: the series has every second of the window, those without a pod too."""
    found = measure([0.0, 0.2, 0.9, 2.1, 2.2])
    assert found.per_second == ((0, 3), (1, 0), (2, 2))
    assert (found.total, found.perc50, found.max) == (5, 2.0, 3.0)


def test_percentiles_are_in_order() -> None:
    """VC-027: perc50 <= perc90 <= perc99 <= max."""
    dice = random.Random(2)
    found = measure([dice.uniform(0, 30) for _ in range(1000)])
    assert found.perc50 <= found.perc90 <= found.perc99 <= found.max


@pytest.mark.parametrize("moments", [[3.0], [3.0, 3.0, 3.0]])
def test_events_of_one_moment_have_no_average(moments: list[float]) -> None:
    """VC-042: one event, or several at one time, are counted and nothing is divided by zero."""
    found = measure(moments)
    assert (found.average, found.total, found.max) == (None, len(moments), float(len(moments)))


def test_no_event_is_an_error() -> None:
    """VC-038: without an event there is nothing to report."""
    with pytest.raises(NoSchedulingEvents):
        measure([])
