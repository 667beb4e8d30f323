"""When nothing more can be scheduled, from the pods that are taken and the changes that are seen alone."""

from seatrial.outside.scheduling_end import SchedulingEnd
from tests.proofs import proves


@proves("V1-086", "V1-088")
def test_the_example_of_the_kep_is_finished_at_the_eighth_try() -> None:
    """P1✗ P2✓ P3✗ P4✗ P1✗ P3✗ P4✗ P1✗; only the taking and the binding are visible."""
    detector, pending, finished = SchedulingEnd(), {"1", "2", "3", "4"}, []
    for pod in ("1", "2", "3", "4", "1", "3", "4", "1"):
        detector.take(pod)
        if pod == "2":
            pending.remove(pod)
            detector.change()
        finished.append(detector.is_finished(pending))
    assert finished == [False] * 7 + [True]


@proves("V1-085", "V1-087")
def test_a_slow_binding_does_not_end_the_step() -> None:
    """Pod 1 is bound at its second try, but that is not visible yet."""
    detector = SchedulingEnd()
    for pod in ("1", "2"):
        detector.take(pod)
    detector.change()
    for pod in ("3", "4", "1"):
        detector.take(pod)
    assert not detector.is_finished({"1", "3", "4"})
    detector.change()
    assert not detector.is_finished({"3", "4"})


def test_without_pending_pods_nothing_is_left_to_try() -> None:
    assert SchedulingEnd().is_finished(set())
