"""`seatrial what-if`: answers by workload, exit codes, and one sentence for bad input."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from seatrial.cli.main import build
from seatrial.model.errors import ConfigError
from tests.controllers.objects import deployment, pod
from tests.whatif.dump import budget, cluster_dump, made, node, small_dump, template
from tests.whatif.dump import workload as workload_of

ZONE = "topology.kubernetes.io/zone"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "cluster.json"
    path.write_bytes(cluster_dump())
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three nodes; a Deployment with a budget that allows one, one that allows none, and a bare pod."""
    web, stuck = deployment("web", 6), deployment("stuck", 1)
    stuck["spec"]["template"]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "general-02"}
    bare = pod("bare", "bare", nodeSelector={"kubernetes.io/hostname": "general-01"})
    path = tmp_path_factory.mktemp("small") / "cluster.json"
    budgets = budget("web", "default", maxUnavailable=1), budget("stuck", "default", minAvailable=1)
    path.write_bytes(small_dump(*(node("general", number) for number in range(3)), web, stuck, bare, *budgets))
    return path


def ask(*words: str | Path) -> tuple[int, Any]:
    done = CliRunner().invoke(build("what-if"), ["what-if", *map(str, words), "-o", "json"])
    if isinstance(done.exception, ConfigError):
        return 2, str(done.exception)
    return done.exit_code, json.loads(done.stdout)


def workload(answer: Any, name: str) -> Any:
    (found,) = [row for row in answer["workloads"] if row["name"] == name]
    return found


def test_a_drain_that_all_budgets_allow_ends_well(small: Path) -> None:
    code, answer = ask("drain", "general-00", "--snapshot", small)
    assert (code, answer["isWell"], answer["nodes"]["drained"]) == (0, True, ["general-00"])
    web = workload(answer, "web")
    # By hand: two of six pods are on the node; the budget lets them go one after the other, 10 s apart.
    assert (web["ready_start"], web["ready_min"], web["ready_end"], web["moved"]) == (6, 5, 6, 2)
    (hold,) = answer["holds"]
    assert (hold["budget"], hold["seconds"]) == ("default/web", 10.0)


def test_a_budget_that_allows_nothing_holds_for_ever_and_the_cure_is_said(small: Path) -> None:
    code, answer = ask("drain", "general-02", "general-01", "--force", "--snapshot", small)
    assert code == 1
    assert (answer["nodes"]["unfinished"], answer["nodes"]["unreached"]) == (["general-02"], ["general-01"])
    hold = next(hold for hold in answer["holds"] if hold["seconds"] is None)
    assert hold["budget"] == "default/stuck"
    assert hold["cure"].startswith("let PodDisruptionBudget default/stuck allow one disruption")


def test_a_bare_pod_stops_the_drain_without_force_and_is_lost_with_it(small: Path) -> None:
    code, answer = ask("drain", "general-01", "--snapshot", small)
    assert code == 1
    assert answer["nodes"]["failed"]["general-01"] == [
        "cannot delete Pods that declare no controller (use --force to override): default/bare"
    ]
    code, answer = ask("drain", "general-01", "--force", "--snapshot", small)
    assert (code, workload(answer, "bare")["lost"]) == (1, 1)


def test_a_timeout_lets_the_next_node_have_its_turn(small: Path) -> None:
    code, answer = ask("drain", "general-02", "general-00", "--timeout", "1m", "--snapshot", small)
    assert (code, answer["nodes"]["drained"], list(answer["nodes"]["failed"])) == (1, ["general-00"], ["general-02"])


def test_a_replica_with_the_name_of_an_evicted_one_counts_at_once(tmp_path: Path) -> None:
    """The budget forgets the evicted pod when it terminates; otherwise the next eviction waits for two minutes."""
    database = workload_of("StatefulSet", "db", "default", template("db", "100m", "64Mi"), replicas=4, serviceName="db")
    nodes = node("general", 0), node("general", 1)
    (tmp_path / "cluster.json").write_bytes(small_dump(*nodes, database, budget("db", "default", maxUnavailable=1)))
    code, answer = ask("drain", "general-00", "--snapshot", tmp_path / "cluster.json")
    assert (code, workload(answer, "db")["moved"]) == (0, 2)
    assert answer["seconds"] < 60


def test_an_outage_loses_what_cannot_come_back(large: Path) -> None:
    """By hand: of every StatefulSet the replicas 1, 4 and 7 have their volumes in eu-b."""
    for words in (["--vanish"], []):
        code, answer = ask("outage", "-l", f"{ZONE}=eu-b", *words, "--snapshot", large)
        assert code == 1
        assert [workload(answer, name)["lost"] for name in ("events", "orders", "ledger")] == [3, 2, 1]
        assert workload(answer, "logs")["wanted"] == 84


def test_an_upgrade_replaces_a_pool_and_says_how_long_it_takes(large: Path) -> None:
    code, answer = ask("upgrade", "--pool", "gpu", "--surge", "3", "--node-start", "2m", "--snapshot", large)
    assert (code, len(answer["nodes"]["drained"])) == (0, 12)
    # Four rounds of three nodes: each waits 2 m for its new node and 1 s for its pods.
    assert answer["seconds"] == 4 * 121
    assert {workload(answer, f"train-{number}")["moved"] for number in range(6)} == {3}


def test_nodes_that_are_removed_take_the_room_of_their_pods_with_them(large: Path) -> None:
    code, answer = ask("remove", "--pool", "spot", "--snapshot", large)
    assert (code, workload(answer, "render")["pending"]) == (1, 14)


def test_scaling_says_how_many_find_no_node_and_adding_nodes_gives_them_one(large: Path) -> None:
    code, answer = ask("scale", "deployment/train-0", "-n", "ml", "--replicas", "12", "--snapshot", large)
    # By hand: 12 nodes have 4 GPUs, 18 pods use 2 each: 6 more fit, and 3 of 9 do not.
    assert (code, workload(answer, "train-0")["pending"]) == (1, 3)
    code, answer = ask("scale", "deployment/train-0", "-n", "ml", "--replicas", "9", "--snapshot", large)
    assert (code, workload(answer, "train-0")["ready_end"]) == (0, 9)
    assert ask("add", "--pool", "gpu", "--count", "2", "--snapshot", large)[0] == 0


def test_the_printed_scenario_is_an_ordinary_one_with_the_same_answer(small: Path, tmp_path: Path) -> None:
    words = ["what-if", "drain", "general-00", "--snapshot", str(small)]
    printed = CliRunner().invoke(build("what-if"), [*words, "--print"]).stdout
    (tmp_path / "scenario.yaml").write_text(printed)
    from seatrial.whatif import answer_of
    from tests.whatif.playing import seatrial

    result = seatrial.run(tmp_path / "scenario.yaml", snapshot=small, drain=True, record="summary")
    assert answer_of(result.run).document() == ask(*words[1:])[1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["drain", "-l", "zone=x"], "-l: zone=x matches none of 3 nodes: no node has the label zone"),
        (
            ["drain", "-l", f"{ZONE}=eu-z"],
            f"-l: {ZONE}=eu-z matches none of 3 nodes: {ZONE} is one of eu-a, eu-b, eu-c",
        ),
        (["drain", "-l", "=="], "-l: '==' is no label selector"),
        (["drain", "--pool", "blue"], "--pool: blue is no pool of the snapshot: there are general"),
        (["drain", "general-0"], "NODE: general-0 is not in the snapshot: did you mean general-00"),
        (["drain"], "NODE: expected either names of nodes, -l SELECTOR, or --pool POOL"),
        (["drain", "--pool", "general"], "NODE: these are all nodes of the snapshot"),
        (["drain", "general-00", "--timeout", "5"], "--timeout: expected a duration such as 30s or 5m, got '5'"),
        (["upgrade", "--pool", "general", "--surge", "0"], "--surge: expected --surge or --unavailable of at least 1"),
        (["scale", "deployment/wob", "--replicas", "2"], "did you mean deployment/web?"),
        (["add"], "--node: expected either --node FILE or --pool POOL"),
    ],
)
def test_bad_input_is_one_sentence_with_the_cure(small: Path, words: list[str], sentence: str) -> None:
    code, said = ask(*words, "--snapshot", small)
    assert code == 2
    assert re.search(re.escape(sentence), said)


def test_a_snapshot_without_nodes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text(json.dumps(made("Namespace", "x")))
    code, said = ask("drain", "a", "--snapshot", tmp_path / "none.json")
    assert code == 2
    assert "has no nodes: dump them, too" in said
