"""After an eviction that was undone, filters and scores miss the victim for the rest of the session, as upstream."""

from seatrial.volcano.cache.cluster_info import read_tasks, take_snapshot
from seatrial.volcano.cache.task_info import TaskStatus
from seatrial.volcano.config.scheduler_conf import helm_conf
from seatrial.volcano.cycle import open_session
from tests.volcano.sessions import READER, group, node, pod, queue


def test_a_discarded_eviction_gives_resources_back_but_not_the_pod_to_the_filters() -> None:
    tasks = read_tasks([pod("a-w-0", "a", on="n1")], READER)
    session = open_session(
        "s", take_snapshot([node("n1")], tasks, [group("a", phase="Running")], [queue()]), helm_conf()
    )
    victim = tasks[0]
    statement = session.statement()
    statement.evict(victim, "preempt")
    assert session.nodes["n1"].future_idle.cpu == 8000
    statement.discard()
    assert victim.status is TaskStatus.RUNNING
    assert session.nodes["n1"].future_idle.cpu == 7000
    seen = session.kube.table.find("n1")
    assert seen is not None and seen.pods == []
