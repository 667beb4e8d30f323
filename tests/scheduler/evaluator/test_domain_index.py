"""What is read off the index of domains is what a walk along the order would find."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.evaluator.domain_index import DomainIndex
from seatrial.scheduler.framework.row_rules import NO_LIMIT, DomainCheck
from tests.scheduler.cluster_builders import a_node
from tests.scheduler.evaluator.test_feasible_index import walked

HOST, ZONE = "kubernetes.io/hostname", "zone"
BOUNDS = ((-NO_LIMIT, 1, True), (1, NO_LIMIT, True), (-NO_LIMIT, 0, False), (0, 1, False))


def table_of(zones: list[str]) -> NodeTable:
    table = NodeTable()
    for number, zone in enumerate(zones):
        table.add_node(NodeInfo.read(a_node(f"n{number}", zone=zone) if zone else a_node(f"n{number}")))
    table.refresh()
    return table


def passes(table: NodeTable, checks: list[DomainCheck], row: int) -> bool:
    for key, sums, lowest, highest, needs_label in checks:
        value = int(table.label(key).ids[row])
        if (needs_label and value < 0) or not lowest <= sums[value] <= highest:
            return False
    return True


@given(st.data())
def test_a_search_reads_off_what_a_walk_finds(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 24))
    table = table_of(data.draw(st.lists(st.sampled_from(["a", "b", ""]), min_size=size, max_size=size)))
    blocked = np.asarray(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    index = DomainIndex(table, table.order, blocked)
    sums = {key: np.zeros(len(table.label(key).values) + 1, np.int64) for key in (HOST, ZONE)}
    kinds = data.draw(st.lists(st.tuples(st.sampled_from([HOST, ZONE]), st.sampled_from(BOUNDS)), max_size=3))
    for _ in range(8):
        checks = [DomainCheck(key, sums[key], *bounds) for key, bounds in kinds]
        start, limit = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, size))
        rows, visited = index.find(checks, start, limit)
        wrong = [bool(blocked[row]) or not passes(table, checks, row) for row in range(size)]
        assert (rows.tolist(), visited) == walked(table.order.tolist(), wrong, start, limit)
        row = data.draw(st.integers(0, size - 1))
        blocked[row] = not blocked[row]
        index.change(row, not blocked[row])
        changed = sums[data.draw(st.sampled_from([HOST, ZONE]))]
        if len(changed) > 1:
            changed[data.draw(st.integers(0, len(changed) - 2))] = data.draw(st.integers(0, 2))


def test_a_changed_label_moves_the_node_to_its_new_domain() -> None:
    table = table_of(["a", "b"])
    index = DomainIndex(table, table.order, np.zeros(2, np.bool_))
    check = DomainCheck(ZONE, np.asarray([1, 0, 0]), -NO_LIMIT, 0, True)
    assert index.find([check], 0, 5)[0].tolist() == [1]
    table.update_node(NodeInfo.read(a_node("n1", zone="a")))
    table.update_node(NodeInfo.read(a_node("n0", zone="b")))
    assert index.find([check], 0, 5)[0].tolist() == [0]
