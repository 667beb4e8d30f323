"""`vcsimctl run --set`: the same load with other values of queues and jobs."""

import json

import pytest

from tests.vcsim.files import vcjob
from tests.vcsim.processes import User
from tests.vcsim.test_virtual import EXAMPLES, case, small

RECLAIM = (*case("reclaim"), "--volcano-config", EXAMPLES / "reclaim" / "conf-a.yaml")


def set_values(user: User, *settings: str) -> list[dict[str, object]]:
    """The load of the example `reclaim` as it is, and with other values."""
    options = [text for setting in settings for text in ("--set", setting)]
    answer = user("run", *RECLAIM, *options, "--out", user.home / "out")
    assert (answer.code, answer.errors) == (0, "")
    found: list[dict[str, object]] = json.loads((user.home / "out" / "what-if.json").read_text())["configurations"]
    return found


def test_a_lower_capability_of_one_queue_lets_the_other_start(user: User) -> None:
    as_it_is, changed = set_values(user, "queue/research.capability.cpu=12")
    assert [found["queues"]["production"]["started"] for found in (as_it_is, changed)] == [0, 1]  # type: ignore[index]
    assert changed["conf"] == "queue/research.capability.cpu=12"


def test_a_job_that_never_starts_has_waited_until_the_end_of_the_longer_run(user: User) -> None:
    (user.home / "nodes.csv").write_text("name,cpu,memory\nn,4,8Gi\n")
    (user.home / "pods.csv").write_text("name,createtime,runsec,cpu,job,queue\na,0,100,2,a,one\nb,0,10,2,b,two\n")
    (user.home / "queues.csv").write_text("name,weight\none,1\ntwo,1\n")
    options = [text for what in ("nodes", "pods", "queues") for text in (f"--{what}", user.home / f"{what}.csv")]
    answer = user("run", *options, "--set", "queue/one.capability.cpu=1")
    (line,) = [line for line in answer.output.splitlines() if line.startswith("one ")]
    assert line.split()[1:4] == ["1", "1", "0"], line
    assert float(line.split()[4]) < 5
    assert line.split()[6].startswith(">10"), "the run as it is ends when the job of 100 s does"


def test_min_available_and_the_default_queue_may_be_set(user: User) -> None:
    options = small(user, vcjob("train", replicas=3, cpu="6"), replicasPerNamespace=1)
    answer = user("run", *options, "--set", "job/train.minAvailable=2", "--set", "queue/default.weight=3")
    (line,) = [line for line in answer.output.splitlines() if line.startswith("default ")]
    assert line.split()[1:4] == ["1", "0", "1"], line


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("weight=4", "expected KIND/NAME.FIELD=VALUE"),
        ("pod/a.weight=4", "expected one of queue, job, podgroup, got 'pod'"),
        ("queue/research.color=4", "a queue has weight, priority"),
        ("queue/research.weight=much", "expected a whole number, got 'much'"),
        ("queue/research.capability=4", "expected capability.RESOURCE=VALUE"),
        ("queue/research.weight.cpu=4", "expected weight=VALUE"),
        ("queue/ghost.weight=4", "the load has no such queue; there are: production, research"),
    ],
)
def test_a_setting_that_means_nothing_is_refused(user: User, setting: str, why: str) -> None:
    answer = user("run", *RECLAIM, "--set", setting)
    assert answer.code == 2
    assert why in answer.errors
