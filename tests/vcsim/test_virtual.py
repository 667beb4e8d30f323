"""Tests in virtual time, tables and what-if comparisons, through the command.

Tests: vcsim/virtual_run.py, vcsim/workload.py, vcsim/tables.py, vcsim/what_if.py, vcsim/clocks.py
"""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seatrial.vcsim import reports
from seatrial.vcsim.main import build
from seatrial.vcsim.throughput import measure
from tests.proofs import proves
from tests.vcsim.files import cluster, daemon_set, deployment, group, simulator_job, vcjob, written
from tests.vcsim.processes import User

EXAMPLES = Path(__file__).parents[2] / "examples" / "vcsimctl"


def small(user: User, *documents: dict[str, object], **spec: object) -> tuple[str | Path, ...]:
    """The options of a virtual run on two nodes of 8 cores."""
    amounts = {"cpu": "8", "memory": "64Gi", "pods": "110"}
    config = cluster(group("node", 2, capacity=amounts, allocatable=amounts))
    written(user.home / "objects.yaml", *documents)
    test = written(user.home / "test.yaml", simulator_job("objects.yaml", **spec))
    return "--clock", "virtual", "--config", written(user.home / "cluster.yaml", config), "--test", test


def report(user: User) -> dict[str, object]:
    (path,) = (user.home / ".vcsimctl" / "kind-simulator" / "report").glob("*.json")
    found: dict[str, object] = json.loads(path.read_text())
    return found


def test_a_virtual_run_needs_no_cluster_and_repeats_itself(user: User) -> None:
    options = small(user, deployment(2), namespaces=2, replicasPerNamespace=3, timing={"qps": 2, "duration": 60})
    first, again = (user("run", *options, "--out", user.home / name) for name in ("a", "b"))
    assert (first.code, first.errors) == (0, "")
    assert "Status: Success" in first.output
    documents = [json.loads(next((user.home / name).glob("*.json")).read_text()) for name in ("a", "b")]
    assert documents[0] == documents[1]
    assert again.code == 0
    assert documents[0]["total"] == 12


def test_the_report_of_a_virtual_run_lies_where_others_do(user: User) -> None:
    assert user("run", *small(user, vcjob(replicas=4), replicasPerNamespace=1)).code == 0
    assert report(user)["total"] == 4


def test_the_report_of_a_virtual_run_is_shown_and_deleted_without_a_cluster(user: User) -> None:
    assert user("run", *small(user, vcjob(replicas=4), replicasPerNamespace=1)).code == 0
    told = user("report")
    assert (told.code, told.errors) == (0, "")
    assert "kind-simulator/report/SchedulingThroughput__" in told.output
    assert "Measured in virtual time, without a cluster" in told.output
    assert user("report", "--cluster", "kind-simulator").output == told.output
    kept = user.home / "kept"
    deleted = user("delete", "cluster", "kind-simulator", "--keep-reports", kept)
    assert (deleted.code, deleted.output) == (0, "Reports of kind-simulator deleted.\n")
    assert len(list(kept.iterdir())) == 1
    assert not (user.home / ".vcsimctl").exists()
    assert "there is no report yet" in user("report").errors


def test_reports_of_several_names_are_named(user: User) -> None:
    for name in ("one", "two"):
        reports.write(measure([1.0]), user.home / ".vcsimctl" / name / "report")
    told = user("report")
    assert told.code == 2
    assert "there are reports of several names, choose one: one, two" in told.errors
    assert user("report", "--cluster", "two").code == 0
    assert "known are: one, two" in user("report", "--cluster", "three").errors


def test_a_name_that_leads_out_of_the_directory_of_clusters_is_refused(user: User) -> None:
    tables = "--nodes", EXAMPLES / "overtaking" / "nodes.csv", "--pods", EXAMPLES / "overtaking" / "pods.csv"
    answer = user("run", *tables, "--cluster", "../../x")
    assert answer.code == 2
    assert "--cluster: '../../x': " in answer.errors


def test_a_test_that_would_never_settle_is_refused() -> None:
    done = CliRunner().invoke(build(), ["run", "--settle", "nan"])
    assert done.exit_code == 2
    assert "Invalid value for '--settle'" in done.output


def test_pods_that_fit_nowhere_are_told_with_the_reason(user: User) -> None:
    answer = user("run", *small(user, vcjob(replicas=2, cpu="5"), vcjob("large", cpu="9"), replicasPerNamespace=1))
    assert answer.code == 1
    assert "Status: Failed" in answer.output
    assert "2 of 4 pods were scheduled" in answer.errors
    assert "scheduling-throughput-0/large" in answer.errors


def test_pods_of_kube_scheduler_share_the_nodes_with_those_of_volcano(user: User) -> None:
    """kube-scheduler, which starts with its first pod, finds the cores that Volcano has given away before."""
    others = deployment(3, cpu="3", scheduler="default-scheduler")
    timing = {"qps": 0.2, "duration": 60}
    options = small(user, vcjob(replicas=2, cpu="5"), others, replicasPerNamespace=1, timing=timing)
    answer = user("run", *options)
    assert answer.code == 1
    assert "4 of 5 pods were scheduled" in answer.errors


@proves("VC-038")
def test_nothing_scheduled_is_an_error_in_virtual_time_too(user: User) -> None:
    """Exit code 1 and no file."""
    answer = user("run", *small(user, vcjob(cpu="99"), replicasPerNamespace=1))
    assert answer.code == 1
    assert "no pod was scheduled" in answer.errors
    assert not list((user.home / ".vcsimctl").rglob("*.json"))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--test", "none.yaml", "--clock", "virtual", "--config", "none.yaml"), "No such file"),
        ((), "expected a test with --test FILE, or pods with --pods FILE"),
        (("--test", "t.yaml", "--volcano-config", "x"), "expected --clock virtual"),
    ],
)
def test_bad_options_are_told(user: User, options: tuple[str, ...], why: str) -> None:
    answer = user("run", *options)
    assert answer.code == 2
    assert why in answer.errors
    assert "Traceback" not in answer.errors


def test_an_object_that_is_refused_is_told(user: User) -> None:
    answer = user("run", *small(user, vcjob(queue="none"), replicasPerNamespace=1))
    assert answer.code == 2
    assert "objects.yaml" in answer.errors
    assert "unable to find job queue" in answer.errors


def test_tables_bring_nodes_queues_and_pods_with_run_times(user: User) -> None:
    (user.home / "nodes.csv").write_text("name,count,cpu,memory,labels\nnode,2,4,16Gi,zone=a\n")
    (user.home / "queues.csv").write_text("name,weight,capability.cpu\nteam,2,8\n")
    (user.home / "pods.csv").write_text(
        "name,createtime,runsec,cpu,job,queue,nodeselector\n"
        "a-0,0,30,4,a,team,zone=a\na-1,0,30,4,a,team,zone=a\nlate,5,10,4,,team,\n"
    )
    tables = [value for name in ("nodes", "pods", "queues") for value in (f"--{name}", user.home / f"{name}.csv")]
    answer = user("run", *tables, "--out", user.home / "out")
    assert (answer.code, answer.errors) == (0, "")
    text = (user.home / "out" / "pods_detail.csv").read_text()
    rows = {row["name"]: row for row in csv.DictReader(text.splitlines())}
    assert float(rows["a-0"]["finished"]) == float(rows["a-0"]["scheduled"]) + 30
    assert float(rows["late"]["scheduled"]) >= float(rows["a-1"]["finished"])
    assert rows["a-0"]["job"] == "a"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name\nx\n", "createtime: expected a column of this name"),
        ("name,createtime\nx,soon\n", "pods.csv:2: createtime: expected seconds, got 'soon'"),
        ("name,createtime,cpu\nx,1,much\n", "pods.csv:2: cpu: 'much'"),
        ("name,createtime\nx,1,2\n", "pods.csv:2: more values than columns"),
        ("name,createtime,queue\nx,1,ghost\n", "pods.csv:2: queue: there is no queue 'ghost'; known: default"),
        ('name,createtime\n"a,1\n', "pods.csv:2: createtime: expected a value"),
        ("name,createtime\nA_b,1\n", "pods.csv:2: name: 'A_b': a lowercase RFC 1123 subdomain"),
        ("", "pods.csv: name: expected a column of this name; the file is empty"),
    ],
)
def test_mistakes_in_tables_are_told_with_their_line(user: User, text: str, why: str) -> None:
    (user.home / "nodes.csv").write_text("name,cpu\nnode,4\n")
    (user.home / "pods.csv").write_text(text)
    answer = user("run", "--nodes", user.home / "nodes.csv", "--pods", user.home / "pods.csv")
    assert answer.code == 2
    assert why in answer.errors


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("actions: dance", "actions: failed to find Action dance"),
        ("actions: allocate\ntiers: [{plugins: [{name: magic}]}]", "unknown plugin magic"),
        ("[]", "expected a mapping"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused_everywhere(user: User, text: str, why: str) -> None:
    conf = user.home / "volcano.conf"
    conf.write_text(text)
    options = small(user, vcjob())
    for command in (
        ("run", *options, "--volcano-config", conf),
        ("run", *options, "--compare", conf, conf),
        ("create", "cluster", "--config", user.home / "cluster.yaml", "--volcano-config", conf),
    ):
        answer = user(*command)
        assert answer.code == 2
        assert f"{conf}: " in answer.errors
        assert why in answer.errors
    assert not (user.home / ".vcsimctl").exists()


def test_the_reason_of_a_pending_job_names_it_once(user: User) -> None:
    answer = user("run", *small(user, vcjob("train", cpu="1000"), replicasPerNamespace=1))
    assert answer.code == 1
    (why,) = [line for line in answer.errors.splitlines() if " of queue default " in line]
    assert why.count("/train-0 ") == 1


def compared(user: User, *options: str | Path, example: str) -> list[dict[str, object]]:
    folder = EXAMPLES / example
    answer = user(
        "run", *options, "--compare", folder / "conf-a.yaml", folder / "conf-b.yaml", "--out", user.home / "out"
    )
    assert (answer.code, answer.errors) == (0, "")
    found: list[dict[str, object]] = json.loads((user.home / "out" / "what-if.json").read_text())["configurations"]
    return found


def case(example: str) -> tuple[str | Path, ...]:
    return "--config", EXAMPLES / example / "cluster.yaml", "--test", EXAMPLES / example / "test-case.yaml"


def test_an_idle_cluster_with_a_pending_job(user: User) -> None:
    a, b = compared(user, *case("idle-but-pending"), example="idle-but-pending")
    assert (a["scheduled"], b["scheduled"]) == (0, 1)
    (why,) = [reason for job, reason in a["pending"].items() if "/small-" in job]  # type: ignore[attr-defined]
    assert "is not let in by plugin overcommit: cpu 800m missing" in why


def test_fragmentation(user: User) -> None:
    a, b = compared(user, *case("fragmentation"), example="fragmentation")
    assert (a["scheduled"], b["scheduled"]) == (4, 7)


def test_reclaim(user: User) -> None:
    a, b = compared(user, *case("reclaim"), example="reclaim")
    started = [found["queues"]["production"]["started"] for found in (a, b)]  # type: ignore[index]
    assert started == [0, 1]
    assert (a["evicted"], b["evicted"]) == (0, 1)
    assert (a["scheduled"], b["scheduled"]) == (16, 16), "16 cores hold 16 pods"
    assert a["jobSizes"].keys() == b["jobSizes"].keys()  # type: ignore[attr-defined]


def test_a_reclaim_loop_and_its_end(user: User) -> None:
    a, b = compared(user, *case("reclaim-loop"), example="reclaim-loop")
    assert a["evicted"] > 100 and b["evicted"] == 1  # type: ignore[operator]
    assert [found["queues"]["production"]["started"] for found in (a, b)] == [0, 1]  # type: ignore[index]


def test_a_pod_that_is_evicted_and_replaced_counts_once(user: User) -> None:
    a, b = compared(user, *case("reclaim-loop"), example="reclaim-loop")
    assert (a["scheduled"], b["scheduled"]) == (3, 4), "one was evicted at the end of A"
    for found in (a, b):
        assert [(name, size["jobs"]) for name, size in found["jobSizes"].items()] == [("2-8 pods", 2)]  # type: ignore[attr-defined]


def test_a_comparison_says_which_run_was_cut_off(user: User) -> None:
    folder = EXAMPLES / "reclaim-loop"
    answer = user("run", *case("reclaim-loop"), "--compare", folder / "conf-a.yaml", folder / "conf-b.yaml")
    (cut,) = [line for line in answer.output.splitlines() if "cut off" in line]
    assert cut.startswith("Run A was cut off after 221 binds at 227 s: ")


@proves("VC-037")
def test_a_run_in_which_pods_never_ran_is_no_success(user: User) -> None:
    """However often the other pods were evicted and scheduled again."""
    conf = EXAMPLES / "reclaim-loop" / "conf-a.yaml"
    answer = user("run", "--clock", "virtual", *case("reclaim-loop"), "--volcano-config", conf)
    assert answer.code == 1
    assert "Status: Failed\n" in answer.output
    assert "3 of 6 pods were scheduled; the run was cut off after 221 binds at 227 s" in answer.errors


@proves("VC-037")
def test_pods_of_a_daemon_set_do_not_stand_for_those_that_wait(user: User) -> None:
    answer = user("run", *small(user, daemon_set(), vcjob(cpu="9"), replicasPerNamespace=1))
    assert answer.code == 1
    assert "Status: Failed\n" in answer.output
    assert "2 of 4 pods were scheduled" in answer.errors


def test_a_daemon_set_is_expected_on_every_node(user: User) -> None:
    answer = user("run", *small(user, daemon_set(cpu="5"), replicasPerNamespace=1, namespaces=2))
    assert answer.code == 1
    assert "2 of 4 pods were scheduled" in answer.errors
    assert user("run", *small(user, daemon_set(cpu="5"), replicasPerNamespace=1)).code == 0


def test_a_job_that_is_not_let_in_has_the_size_of_its_spec(user: User) -> None:
    options = small(user, vcjob(replicas=10, cpu="9", minAvailable=2), replicasPerNamespace=1)
    a, _ = compared(user, *options, example="idle-but-pending")
    assert list(a["jobSizes"]) == ["9-64 pods"]  # type: ignore[call-overload]


def test_small_jobs_overtake_a_big_one_unless_sla_holds_its_place(user: User) -> None:
    tables = "--nodes", EXAMPLES / "overtaking" / "nodes.csv", "--pods", EXAMPLES / "overtaking" / "pods.csv"
    waits = [found["jobSizes"]["9-64 pods"]["maxWait"] for found in compared(user, *tables, example="overtaking")]  # type: ignore[index]
    assert waits == [132.0, 53.0]
