from seatrial.store.memo import Memo


def test_results_are_kept_up_to_the_limit() -> None:
    memo: Memo[int, str] = Memo(2)
    memo[1], memo[2] = "a", "b"
    assert memo == {1: "a", 2: "b"}


def test_one_result_more_replaces_all() -> None:
    memo: Memo[int, str] = Memo(2)
    memo[1], memo[2], memo[3] = "a", "b", "c"
    assert memo == {3: "c"}


def test_a_result_that_is_replaced_costs_no_other() -> None:
    memo: Memo[int, str] = Memo(2)
    memo[1], memo[2], memo[1] = "a", "b", "c"
    assert memo == {1: "c", 2: "b"}
