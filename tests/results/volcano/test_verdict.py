"""The verdict about two queue configurations, in cases whose numbers can be worked out by hand.

Every run has two queues, a and b, and two jobs in each; a job is told by the second in which it starts.
"""

from typing import Any

import pytest

from seatrial.model.documents import encode
from seatrial.results.comparison.comparison import Comparison, compare
from seatrial.results.comparison.verdict import verdicts
from seatrial.results.run import Run
from tests.results.conftest import START, Story, told_run

NEVER = None
SECOND = 1_000_000


def group(name: str, queue: str, phase: str) -> dict[str, Any]:
    owner = {"kind": "Job", "name": name}
    meta = {"name": f"{name}-uid", "namespace": "default", "ownerReferences": [owner]}
    return {"kind": "PodGroup", "metadata": meta, "spec": {"queue": queue, "minMember": 2}, "status": {"phase": phase}}


def state(name: str, deserved: float, allocated: float, waiting: int) -> dict[str, Any]:
    empty: dict[str, float] = {}
    amounts = {"deserved": {"cpu": deserved}, "allocated": {"cpu": allocated}}
    more = {"guarantee": empty, "capability": empty, "inqueue": empty, "share": allocated / deserved}
    jobs = {"Pending": waiting} if waiting else {}
    return {"parent": "root", "weight": 1, **amounts, **more, "overused": False, "jobs": jobs}


def told(name: str, starts: dict[str, int | None], end: int, held: dict[str, float] | None = None) -> Run:
    """`starts`: the seconds after which a job runs, by `queue-number`; `held`: cpus of each queue, of 4 it deserves."""
    story = Story()
    amounts = {"cpu": "8", "memory": "8Gi", "pods": "10"}
    story.tell(1, 0, "create", {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": amounts}})
    for job in starts:
        story.tell(1, 0, "create", group(job, job[0], "Pending"))
    for queue, cpus in (held or {}).items():
        document = {"kind": "Queue", "metadata": {"name": queue}}
        story.tell(1, 0, "session", document)
        story.rows[-1]["object"] = encode(state(queue, 4.0, cpus, waiting=1)).decode()
    started = sorted((second, job) for job, second in starts.items() if second is not None)
    for second, job in started:
        story.tell(2, 0, "status", group(job, job[0], "Running"))
        story.rows[-1]["time"] = START + second * SECOND
    story.tell(3, 0, "status", {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": amounts}})
    story.rows[-1]["time"] = START + end * SECOND
    return told_run(story, name)


def compared(first: Run, second: Run) -> Comparison:
    return compare([first, second], ["volcano_jobs", "queue_fairness", "queue_deficit"])


def value(found: Comparison, name: str) -> tuple[float | None, ...]:
    return found.number(name).values


def test_a_queue_that_waits_less_at_the_cost_of_another_is_named() -> None:
    before = told("before", {"a-1": 10, "a-2": 20, "b-1": 2, "b-2": 4}, 40)
    after = told("after", {"a-1": 2, "a-2": 4, "b-1": 4, "b-2": 6}, 40)
    found = compared(before, after)
    assert value(found, "job_wait_mean_s.queue.a") == (15.0, 3.0)
    assert value(found, "job_wait_mean_s.queue.b") == (3.0, 5.0)
    assert verdicts(found) == [
        "after against before: jobs wait less on average (9 → 4) s; less in queue a (15 → 3 s); longer in queue b "
        "(3 → 5 s); every pod went to the same node."
    ]


def test_a_job_that_never_starts_waits_to_the_end_and_not_for_nothing() -> None:
    before = told("before", {"a-1": 10, "a-2": 50, "b-1": 2, "b-2": 2}, 100)
    after = told("after", {"a-1": 10, "a-2": NEVER, "b-1": 2, "b-2": 2}, 100)
    found = compared(before, after)
    assert value(found, "jobs_waiting") == (0.0, 1.0)
    assert value(found, "job_wait_mean_s") == (16.0, 28.5)
    assert "1 more job never starts (0 → 1); jobs wait longer on average (16 → 28.5) s" in verdicts(found)[0]


def test_a_run_that_ends_early_because_nothing_starts_is_not_the_better_one() -> None:
    before = told("before", {"a-1": 10, "a-2": 50, "b-1": 2, "b-2": 2}, 100)
    after = told("after", {"a-1": 3, "a-2": NEVER, "b-1": 2, "b-2": 2}, 4)
    found = compared(before, after)
    assert value(found, "job_wait_mean_s") == (16.0, (3 + 100 + 2 + 2) / 4)
    assert "jobs wait longer on average" in verdicts(found)[0]


def test_jobs_that_all_start_are_better_than_jobs_that_wait() -> None:
    before = told("before", {"a-1": 1, "a-2": NEVER, "b-1": 1, "b-2": NEVER}, 60)
    after = told("after", {"a-1": 5, "a-2": 9, "b-1": 5, "b-2": 9}, 60)
    (sentence,) = verdicts(compared(before, after))
    assert sentence.startswith(
        "after against before: 2 fewer jobs never start (2 → 0); jobs wait less on average (30.5 → 7) s"
    )


def test_a_queue_below_what_it_deserves_is_worse_although_no_job_waits_longer() -> None:
    starts: dict[str, int | None] = {"a-1": 1, "a-2": NEVER, "b-1": 1, "b-2": NEVER}
    before = told("before", starts, 50, {"a": 4.0, "b": 4.0})
    after = told("after", starts, 50, {"a": 4.0, "b": 2.0})
    found = compared(before, after)
    assert list(value(found, "queue_jain")) == pytest.approx([1.0, 0.9])
    assert value(found, "below_deserved_s.b") == (0.0, 50.0)
    (sentence,) = verdicts(found)
    assert "worse: queue_jain (1 → 0.9), below_deserved_s (0 → 50) and 1 more" in sentence and "wait" not in sentence
