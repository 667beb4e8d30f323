"""Tasks by keys come out as by upstream's comparisons of two at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.priority_queue import KeyedQueue
from seatrial.volcano.framework.session import Session, SessionOptions
from tests.volcano.sessions import cycle, group, node, pod


def session_with(names: list[str], priorities: list[int], *, keys: bool) -> Session:
    pods = [pod(name, "job", cpu="99", priority=level) for name, level in zip(names, priorities, strict=False)]
    return cycle([node("n")], pods, [group("job")], options=SessionOptions(keys_jobs=keys))[0]


def order(session: Session) -> list[str]:
    queue = session.task_queue(list[TaskInfo](session.jobs["default/job"].index))
    return [queue.pop().name for _ in range(len(queue))]


@given(st.lists(st.integers(0, 30), unique=True, min_size=1, max_size=12), st.lists(st.integers(0, 3), min_size=12))
def test_by_priority_then_index(numbers: list[int], priorities: list[int]) -> None:
    names = [f"job-worker-{number}" for number in numbers]
    assert order(session_with(names, priorities, keys=True)) == order(session_with(names, priorities, keys=False))


@pytest.mark.parametrize(
    ("names", "is_keyed"),
    [(["a-b-1", "a-b-0"], True), (["plain", "other"], True), (["a-b-1", "plain"], False)],
)
def test_there_are_keys_where_all_tasks_have_an_index_or_none_has(names: list[str], is_keyed: bool) -> None:
    session = session_with(names, [1, 1], keys=True)
    queue = session.task_queue(list[TaskInfo](session.jobs["default/job"].index))
    assert isinstance(queue, KeyedQueue) is is_keyed
    copy = queue.clone()
    copy.clear()
    assert len(queue) == 2 and not len(copy)
