"""Throughput from scheduling events, by the rules of the seed."""

import random

import pytest

from seatrial.vcsim.throughput import NoSchedulingEvents, measure
from tests.proofs import proves


@proves("VC-041")
def test_throughput_is_all_events_over_the_window() -> None:
    """101 events over 10 s are 10.1 pods per second."""
    assert measure([index / 10 for index in range(101)]).average == pytest.approx(10.1)


@proves("VC-039")
def test_the_window_goes_from_the_first_event_to_the_last() -> None:
    """Events in any order give the same window."""
    moments = [100 + index / 10 for index in range(101)]
    shuffled = list(moments)
    random.Random(1).shuffle(shuffled)
    assert measure(shuffled) == measure(moments)


@proves("VC-040")
def test_fractions_of_a_second_count() -> None:
    """Three events within half a second are 6 pods per second."""
    assert measure([7.25, 7.5, 7.75]).average == pytest.approx(6.0)


@proves("VC-020", "VC-036")
def test_pods_are_counted_in_each_second() -> None:
    """The series has every second of the window, those without a pod too."""
    found = measure([0.0, 0.2, 0.9, 2.1, 2.2])
    assert found.per_second == ((0, 3), (1, 0), (2, 2))
    assert (found.total, found.perc50, found.max) == (5, 2.0, 3.0)


@proves("VC-027")
def test_percentiles_are_in_order() -> None:
    """Perc50 <= perc90 <= perc99 <= max."""
    dice = random.Random(2)
    found = measure([dice.uniform(0, 30) for _ in range(1000)])
    assert found.perc50 <= found.perc90 <= found.perc99 <= found.max


@proves("VC-042")
@pytest.mark.parametrize("moments", [[3.0], [3.0, 3.0, 3.0]])
def test_events_of_one_moment_have_no_average(moments: list[float]) -> None:
    """One event, or several at one time, are counted and nothing is divided by zero."""
    found = measure(moments)
    assert (found.average, found.total, found.max) == (None, len(moments), float(len(moments)))


@proves("VC-038")
def test_no_event_is_an_error() -> None:
    """Without an event there is nothing to report."""
    with pytest.raises(NoSchedulingEvents):
        measure([])


def test_a_window_too_short_to_measure_has_no_larger_average_than_the_shortest() -> None:
    """Two events a microsecond apart are no two million pods per second."""
    assert measure([1.0, 1.000001]).average == pytest.approx(200.0)
