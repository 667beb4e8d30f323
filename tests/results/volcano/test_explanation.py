"""Why jobs of Volcano wait, and what their queues deserve: 18 of 20 jobs wait, and each is named with its reason."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import seatrial
from seatrial.cli.main import build
from seatrial.model.errors import NotFound
from seatrial.results import Result
from seatrial.results.volcano import find_jobs, job_groups
from tests.results.volcano.scenarios import job, node, queue, scenario

ROOT = Path(__file__).parents[3]
BIG, SMALL, WIDE = "job default/big-{:02}", "job default/small-{}", "job default/wide"
OVERCOMMIT = "not let in by overcommit: the cluster has too little cpu"
CAPABILITY = "not let in by proportion: queue small has too little cpu"
NO_NODE = "fits on no node: Insufficient cpu"
CONF = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins:
  - {name: overcommit, arguments: {overcommit-factor: 1.2}}
  - {name: predicates}
  - {name: proportion}
  - {name: nodeorder}
"""


def command(*arguments: object) -> str:
    result = CliRunner().invoke(build(), [str(each) for each in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One gang runs, one is let in and fits on no node, two are too large for their queue, fifteen for the cluster."""
    place = tmp_path_factory.mktemp("story")
    nodes = [node("n1"), node("n2")]
    first = [job("first", "big", pods=2, cpu="3"), job("wide", "big", pods=3, cpu="3")]
    small = [job(f"small-{i}", "small", pods=1, cpu="1") for i in range(2)]
    big = [job(f"big-{i:02}", "big", pods=4, cpu="2") for i in range(15)]
    steps = (
        [*nodes, queue("big", weight=3), queue("small", capability={"cpu": "500m"})],
        first,
        small,
        [
            job("second", "big", pods=1, cpu="100m"),
            *big,
        ],
    )
    (place / "scenario.yaml").write_text(yaml.safe_dump(scenario(*steps)))
    (place / "conf.yaml").write_text(CONF)
    arguments = ["run", place / "scenario.yaml", "--volcano-config", place / "conf.yaml", "--out", place / "out"]
    (place / "summary.txt").write_text(command(*arguments))
    return place


def test_the_summary_does_not_say_that_nothing_waits(folder: Path) -> None:
    text = (folder / "summary.txt").read_text()
    assert "0 pending" not in text
    assert "jobs       20: " in text and "18 waiting" in text
    assert f"15 jobs: {OVERCOMMIT} (job default/big-00, job default/big-01, job default/big-02 and 12 more)" in text


def test_every_waiting_job_is_listed_with_its_reason(folder: Path) -> None:
    groups = {group.reason: group.pods for group in job_groups(Result.load(folder / "out").run)}
    assert groups[OVERCOMMIT] == tuple(BIG.format(i) for i in range(15))
    assert groups[CAPABILITY] == tuple(SMALL.format(i) for i in range(2))
    assert groups[NO_NODE] == (WIDE,)
    listed = command("explain", folder / "out")
    assert all(title in listed for titles in groups.values() for title in titles)
    asked = json.loads(command("explain", folder / "out", "--json"))
    assert sum(len(group["jobs"]) for group in asked if "jobs" in group) == 18


def test_a_job_is_explained_action_by_action(folder: Path) -> None:
    answer = Result.load(folder / "out").explain_job("small-0")
    assert answer.sentence.startswith(
        "job default/small-0 of queue small is not let in by plugin proportion: cpu 500m "
    )
    assert answer.said == (
        (
            "enqueue",
            "proportion",
            "is not let in: cpu 500m missing (asks for 1, queue small has 500m left of its capability)",
        ),
    )
    assert answer.needs == ("spec.capability of queue small with at least 1 cpu",)
    assert [phase for _, phase, _ in answer.history] == ["Pending", "Pending"]


def test_a_gang_without_room_says_how_many_of_its_pods_fit_and_what_is_idle(folder: Path) -> None:
    answer = Result.load(folder / "out").explain_job("wide")
    said = {(action, plugin): text for action, plugin, text in answer.said}
    assert said["allocate", "gang"] == "2 of 3 that must start together find a node"
    assert said["allocate", ""] == "wide-w-2 asks for cpu 3, memory 1Gi; of 2 nodes none fits: 2 Insufficient cpu"
    assert answer.needs == ("room for 1 more pod, each asking for cpu 3, memory 1Gi; 2 find a node",)


def test_all_plugins_that_keep_a_job_out_are_named(folder: Path) -> None:
    text = command("explain", folder / "out", "big-00")
    assert "what would let it in, all of it together" in text
    answer = Result.load(folder / "out").explain_job("big-00")
    assert [(plugin, text.partition(":")[0]) for _, plugin, text in answer.said] == [
        ("overcommit", "is not let in"),
        ("proportion", "would not let it in either"),
    ]
    assert [need.partition(":")[0] for need in answer.needs] == ["overcommit", "proportion"]
    assert ", or an overcommit-factor of at least" in answer.needs[0]


def test_a_job_that_runs_with_more_pods_than_its_gang_is_counted_by_its_pods(tmp_path: Path) -> None:
    example = ROOT / "examples" / "volcano-reclaim"
    config = example / "volcano-scheduler.conf"
    told = command("run", example / "scenario.yaml", "--volcano-config", config, "--out", tmp_path)
    assert "fits on no node: 2 Insufficient cpu (5 of 8 pods find a node; 1 must start together)" in told
    assert "5 pods run, 1 must start together." in Result.load(tmp_path).explain_job("greedy").sentence


def test_a_queue_says_what_it_deserves(folder: Path) -> None:
    text = command("explain", folder / "out", "queue/small")
    assert "queue small deserves nothing" in text and "by its weight, 1 of 4, it may have cpu 4, memory 32Gi" in text
    assert "2 of 2 jobs wait" in text
    big = Result.load(folder / "out").explain_queue("big")
    assert big.rows()[0][0] == "cpu" and big.rows()[0][2] == "6.1"


def test_the_queues_are_a_tree(folder: Path) -> None:
    text = command("explain", folder / "out", "queues")
    names = [line.split("│")[1].rstrip() for line in text.splitlines() if "│" in line]
    assert [name for name in names if name.strip()] == [" root", "   big", "   default", "   small"]


def test_names_are_found_as_job_as_pod_group_and_by_glob(folder: Path) -> None:
    run = Result.load(folder / "out").run
    (wide,) = find_jobs(run, "wide")
    assert find_jobs(run, wide.key) == find_jobs(run, f"podgroup/{wide.key}") == find_jobs(run, "job/wide") == [wide]
    assert len(find_jobs(run, "big-*")) == 15
    with pytest.raises(NotFound, match="did you mean wide"):
        find_jobs(run, "wid")


def test_a_deployment_is_called_by_its_name() -> None:
    pods = {"containers": [{"name": "main", "image": "x", "resources": {"requests": {"cpu": "9"}}}]}
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"schedulerName": "volcano", **pods}},
        },
    }
    document = scenario([node("n1")], [web])
    document["spec"]["controllers"]["presimulationControllers"] = {
        "enabled": [{"name": "deployment"}, {"name": "replicaset"}]
    }
    result = seatrial.run(document)
    assert [group.pods for group in job_groups(result.run)] == [("deployment default/web",)]
    assert "deployment default/web of queue default" in result.message
    assert result.jobs["job"].to_list() == ["deployment default/web"]


def test_preempt_says_with_whom_it_was_tried_and_who_refused(tmp_path: Path) -> None:
    conf = CONF.replace("allocate, backfill", "allocate, preempt").replace("1.2", "3")
    conf = conf.replace("  - {name: proportion}\n", "")
    (tmp_path / "conf.yaml").write_text(conf)
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    urgent = job("urgent", "default", pods=2, cpu="4")
    urgent["spec"]["priorityClassName"] = "high"
    (tmp_path / "scenario.yaml").write_text(
        yaml.safe_dump(scenario([node("n1"), high], [job("low", "default", pods=2, cpu="4")], [urgent]))
    )
    options = ["--volcano-config", tmp_path / "conf.yaml", "--out", tmp_path / "out", "--no-report", "--quiet"]
    command("run", tmp_path / "scenario.yaml", *options)
    result = Result.load(tmp_path / "out")
    answer = result.explain_job("urgent")
    (tried,) = [text for action, _, text in answer.said if action == "preempt"]
    low = result.explain_job("low").job.key
    assert tried.startswith(f"asked for {low} on ") and "refused by gang" in tried
