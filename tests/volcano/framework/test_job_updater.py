"""What a session leaves to be written when it ends."""

from tests.volcano.sessions import cycle, group, node, pod, queue


def test_queues_above_hold_what_the_queues_below_hold() -> None:
    queues = [queue("root"), queue("top", parent="root"), queue("leaf", parent="top"), queue("other")]
    _, result = cycle([node("n")], [pod("p", "g", cpu="2", on="n")], [group("g", queue="leaf")], queues)
    assert {name: held["cpu"] for name, held in result.queues.items()} == {
        "root": "2",
        "top": "2",
        "leaf": "2",
        "other": "0",
    }


def test_a_session_ends_where_queues_are_parents_of_each_other() -> None:
    queues = [queue("root"), queue("a", parent="b"), queue("b", parent="a"), queue("leaf", parent="a")]
    _, result = cycle([node("n")], [pod("p", "g", cpu="2", on="n")], [group("g", queue="leaf")], queues)
    assert {name: held["cpu"] for name, held in result.queues.items()} == {"root": "0", "a": "2", "b": "2", "leaf": "2"}
