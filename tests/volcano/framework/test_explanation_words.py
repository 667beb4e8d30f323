"""What would let a waiting job in, in numbers that are enough and no more."""

import pytest

from seatrial.volcano.framework.explanation import Explanation
from seatrial.volcano.framework.explanation_words import JobWords
from seatrial.volcano.framework.refusals import Refusal, Said, Shortage


def words(shortage: Shortage) -> JobWords:
    refusal = Refusal("jobEnqueueable", "overcommit", "", "", (shortage,))
    said = Said({("enqueue", "jobEnqueueable", "overcommit"): refusal})
    job = Explanation("default/a", ("Job", "a"), "default", "Pending", 1, 0, 0, 0, said, None)
    return JobWords(job, lambda job: "a")


@pytest.mark.parametrize(("factor", "more"), [(1.0, "4.4"), (1.2, "3.667"), (2.0, "2.2")])
def test_a_core_more_in_the_cluster_counts_as_often_as_it_may_be_promised(factor: float, more: str) -> None:
    (need,) = words(Shortage("cpu", 8000, 6000, 9600, gain=factor)).needs()
    assert need == f"{more} more cpu in the cluster, or jobs that end and give 4.4 back"
