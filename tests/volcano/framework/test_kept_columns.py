"""Kept columns answer as plain ones do, on random clusters and random tasks."""

from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.model.documents import Document
from seatrial.volcano.framework.node_search import SearchOptions
from seatrial.volcano.framework.session import SessionOptions
from tests.volcano.sessions import binds, cycle, group, node, pod

CPUS = st.sampled_from(["0", "500m", "1", "2", "3"])
LABELS = st.sampled_from([{}, {"disk": "ssd"}])


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Document], list[Document], list[Document]]:
    nodes = []
    for number in range(draw(st.integers(1, 6))):
        one = node(f"n{number}", cpu=str(draw(st.integers(1, 8))), pods=str(draw(st.integers(1, 6))))
        one["metadata"]["labels"] = draw(LABELS)
        if draw(st.booleans()):
            one["spec"] = {"taints": [{"key": "k", "value": "v", "effect": "PreferNoSchedule"}]}
        nodes.append(one)
    pods, groups = [], []
    for number in range(draw(st.integers(1, 4))):
        size = draw(st.integers(1, 4))
        groups.append(group(f"g{number}", draw(st.integers(1, size))))
        cpu, selector, role = draw(CPUS), draw(LABELS), draw(st.sampled_from(["", "w"]))
        pods += [
            pod(f"g{number}-w-{index}", f"g{number}", cpu, role=role, nodeSelector=selector) for index in range(size)
        ]
    pods += [pod(f"there-{number}", cpu="1", on="n0") for number in range(draw(st.integers(0, 2)))]
    return nodes, pods, groups


@settings(max_examples=60, deadline=None)
@given(clusters(), st.integers(1, 4))
def test_kept_and_plain_columns_bind_the_same(
    cluster: tuple[list[Document], list[Document], list[Document]], enough: int
) -> None:
    search = SearchOptions(minimum_feasible_nodes=enough, percentage=30)
    outcomes = []
    for keeps in (False, True):
        session, result = cycle(*cluster, options=SessionOptions(keeps, search))
        messages = {uid: status.get("conditions") for uid, status in result.statuses.items()}
        outcomes.append((binds(result), messages, [job.index.waiting for job in session.jobs.values()]))
    assert outcomes[0] == outcomes[1]
