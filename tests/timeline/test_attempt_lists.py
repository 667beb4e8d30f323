"""Lists of attempts: pods that were tried alike share theirs, and none changes that of another."""

from hypothesis import given
from hypothesis import strategies as st

from seatrial.timeline.attempt_lists import EARLIER_LISTED, NO_ATTEMPTS, AttemptList, AttemptLists, Tried, tried_in
from seatrial.timeline.wire import attempt, attempts_until


def whole(step: int) -> Tried:
    """An attempt of one pod alone."""
    return Tried(b"%d" % step, b'{"step":%d,"pluginResults":{}}' % step)


def test_pods_that_are_tried_alike_share_their_list() -> None:
    lists = AttemptLists()

    def tried_twice() -> AttemptList:
        return lists.shortened(lists.add(lists.add(NO_ATTEMPTS, tried_in(b"1")), tried_in(b"2")), 2)

    assert tried_twice() is tried_twice()


def test_a_list_is_not_changed_by_those_that_go_on_with_it() -> None:
    common = NO_ATTEMPTS.add(tried_in(b"1"))
    one, other = common.add(whole(2)), common.add(tried_in(b"3"))
    assert [tried.step for tried in common.items()] == [b"1"]
    assert [tried.step for tried in one.items()] == [b"1", b"2"]
    assert [tried.step for tried in other.items()] == [b"1", b"3"]


STEPS = st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.booleans(), st.booleans()), max_size=80)


@given(STEPS)
def test_lists_are_those_of_a_pod_that_keeps_its_own(actions: list[tuple[int, bool, bool, bool]]) -> None:
    """Three pods add attempts, whole or by step, and shorten what was shown now and then."""
    lists, shared = AttemptLists(), [NO_ATTEMPTS] * 3
    plain: list[list[Tried]] = [[], [], []]
    shown = [0, 0, 0]
    for step, (pod, is_whole, is_shown, ends) in enumerate(actions):
        tried = whole(step) if is_whole else tried_in(b"%d" % step)
        shared[pod] = lists.add(shared[pod], tried)
        plain[pod].append(tried)
        if is_shown:
            known = shared[pod].length - (shared[pod].number - shown[pod])
            shared[pod] = lists.shortened(shared[pod], known)
            plain[pod] = shortened(plain[pod], known)
            shown[pod] = shared[pod].number
        if ends:
            lists.forget()
        for one, other in zip(shared, plain, strict=True):
            assert one.items() == other
            assert one.encoded() == b",".join(tried.item for tried in other)
            assert one.number == sum(tried.number for tried in other)


def shortened(items: list[Tried], known: int) -> list[Tried]:
    short = [tried_in(tried.step) if tried.number == 1 else tried for tried in items[:known]]
    if known > EARLIER_LISTED:
        many, short = short[:-EARLIER_LISTED], short[-EARLIER_LISTED:]
        number, step = sum(tried.number for tried in many), many[-1].step
        item = attempts_until(step, number) if number > 1 else attempt(step)
        short = [Tried(step, item, number), *short]
    return short + items[known:]
