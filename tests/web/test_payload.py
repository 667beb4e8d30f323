"""The columns that the report page draws."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from seatrial.api import run
from seatrial.web import attempts
from seatrial.web.payload import message_shown, payload
from tests.scenario.playing import create, delete, done, operations, scenario
from tests.scenario.running import node, pod, priority_class


def shown(*items: dict[str, Any]) -> dict[str, Any]:
    return payload(run(scenario(operations(*items, done(9)))).run)


def test_equal_columns_of_attempts_are_in_the_page_once() -> None:
    nodes = [create(1, node(name)) for name in ("n1", "n2")]
    found = shown(*nodes, *(create(1, pod(f"p{number}", cpu="0")) for number in range(3)))
    cells = [each["cells"] for each in found["details"]]
    assert len(cells) == 3
    assert found["lists"][cells[0]["nodes"]] == ("n1", "n2")
    for column in ("nodes", "feasible", "verdicts", "plugins", "weights"):
        assert len({each[column] for each in cells}) == 1, column
    scores = [number for each in cells for number in (*each["raw"], *each["normalized"], each["total"])]
    assert len(set(scores)) < len(scores) / 2


def test_pods_that_wait_share_their_reasons() -> None:
    found = shown(create(1, node("n")), *(create(1, pod(f"p{number}", cpu="64")) for number in range(3)))
    (message,) = set(found["attempts"]["message"])
    (reasons,) = set(found["attempts"]["reasons"])
    assert found["lists"][message].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert found["lists"][reasons] == (("Insufficient cpu", 1),)


def test_columns_that_differ_stay_apart() -> None:
    rejected = pod("large", cpu="64")
    found = shown(create(1, node("n1")), create(1, node("n2")), create(1, pod("small")), create(2, rejected))
    small, large, *_ = (each["cells"] for each in found["details"])
    lists = found["lists"]
    assert [lists[small["verdicts"]].tolist(), lists[large["verdicts"]].tolist()] == [[0, 0], [1, 1]]
    assert found["verdicts"] == [("NodeResourcesFit", "UnschedulableAndUnresolvable", "Insufficient cpu")]
    assert [lists[small["feasible"]], lists[large["feasible"]]] == [("n1", "n2"), ()]


def test_a_victim_names_the_pod_that_preempted_it_among_those_of_its_name() -> None:
    urgent = pod("urgent", cpu="4", priorityClassName="high")
    found = shown(
        create(1, node("n")), create(1, priority_class("high", 100)), create(1, pod("a", cpu="4")),
        create(2, urgent), delete(3, urgent), create(4, urgent),
    )["pods"]  # fmt: skip
    assert found["key"] == ["default/a", "default/urgent", "default/urgent"]
    assert found["preemptor"] == [1, -1, -1]


@pytest.mark.parametrize(("most", "said"), [(1, "2 later attempts are not"), (2, "1 later attempt is not")])
def test_a_page_counts_the_attempts_that_are_left_out(most: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "ATTEMPTS", most)
    found = shown(create(1, node("n")), *(create(1, pod(f"p{number}")) for number in range(3)))
    assert f"{said} in this page; seatrial explain shows them." in found["omitted"]


def test_a_page_does_not_repeat_what_the_file_of_the_run_leaves_out() -> None:
    note = "result.json lists 4,919 attempts by step only; `seatrial explain` shows their nodes and scores"
    assert message_shown(f"done in step 2; {note}; 3 were skipped") == "done in step 2; 3 were skipped"


def test_a_page_has_the_workloads_of_a_snapshot_those_that_miss_replicas_first(tmp_path: Path) -> None:
    labels = {"matchLabels": {"app": "web"}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod("x", cpu="1")["spec"]}
    spec = {"replicas": 1, "selector": labels, "template": template}
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": spec,
    }
    bare = pod("bare", cpu="1")
    bare["spec"]["nodeName"] = "n1"
    snapshot = tmp_path / "cluster.yaml"
    snapshot.write_text(yaml.safe_dump_all([node("n1"), bare, web]))
    document = scenario(operations(create(1, pod("new", cpu="1")), done(2)))
    rows = payload(run(document, snapshot=snapshot).run)["workloads"]
    assert rows["total"] == len(rows["rows"])
    found = [(row["name"], row["wanted"], row["ready_end"]) for row in rows["rows"]]
    assert found == [("bare", 1, 0), ("web", 1, 1), ("new", 1, 1)]
    assert shown(create(1, node("n1")))["workloads"] is None
