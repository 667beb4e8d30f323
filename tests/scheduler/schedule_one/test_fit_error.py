"""Why a pod fits nowhere, from small numbers per node."""

import numpy as np

from seatrial.scheduler.framework.status import Code, Status, unresolvable, unschedulable
from seatrial.scheduler.schedule_one.fit_error import Diagnosis

FULL = unschedulable("Insufficient cpu").by("NodeResourcesFit")
TAINTED = unresolvable("untolerated taint").by("TaintToleration")
HELD = Status(Code.PENDING, ("not yet",), "Gate")


def diagnosed(codes: list[int], of_strangers: tuple[Status, ...] = ()) -> Diagnosis:
    names = [f"n{place}" for place in range(len(codes))]
    return Diagnosis(names, np.asarray(codes, np.int32), (FULL, TAINTED, HELD), of_strangers=of_strangers)


def test_reasons_are_counted_and_sorted_as_texts() -> None:
    told = diagnosed([1, 2, 1, 0]).message("preemption: no")
    assert told == "0/4 nodes are available: 1 untolerated taint, 2 Insufficient cpu. preemption: no"


def test_preemption_may_help_where_room_is_short() -> None:
    assert diagnosed([1, 2, 1, 0]).resolvable() == ["n0", "n2"]


def test_only_plugins_that_rejected_a_node_are_to_blame() -> None:
    diagnosis = diagnosed([1, 3, 0])
    assert diagnosis.plugins() == ("Gate", "NodeResourcesFit")
    assert diagnosis.plugins(pending=True) == ("Gate",)


def test_a_node_nobody_looked_at_has_the_absent_status() -> None:
    diagnosis = diagnosed([1, 0])
    assert [diagnosis.status(name) for name in ("n0", "n1", "nowhere")] == [FULL, diagnosis.absent, diagnosis.absent]


def test_nodes_that_only_an_extender_knows_are_counted() -> None:
    told = diagnosed([1, 1], of_strangers=(unschedulable("too far"),)).message()
    assert told == "0/2 nodes are available: 1 too far, 2 Insufficient cpu."


def test_a_pod_that_pre_filter_rejects_is_told_its_words() -> None:
    diagnosis = Diagnosis(["n0", "n1"], absent=FULL, pre_filter_message="no claim")
    assert diagnosis.message() == "0/2 nodes are available: no claim."
    assert (diagnosis.plugins(), diagnosis.resolvable()) == (("NodeResourcesFit",), ["n0", "n1"])
