"""Toy programs as controllers of a scenario: well-behaved ones, and every way to misbehave."""

import os
from pathlib import Path

from tests.outside.gate.playing import Played, toy
from tests.proofs import proves
from tests.scenario.playing import create, done, events, node, operations, pod


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@proves("V1-068", "V1-079")
def test_an_outside_scheduler_takes_the_place_of_the_embedded_one(tmp_path: Path) -> None:
    """Bound and unscheduled pods are told from what it writes, and its attempts are not explained."""
    spec = operations(create(1, node("n1", 2)), *(create(1, pod(name)) for name in "abc"), done(2))
    played = Played(spec, tmp_path, toy("scheduler", "scheduler"))
    assert (played.phase, played.message) == ("Succeeded", "done in step 2")
    assert played.bound() == {"a": "n1", "b": "n1", "c": ""}
    results = [entry for entry in played.entries(1) if "podScheduled" in entry or "podUnscheduled" in entry]
    assert [entry["step"] for entry in results] == [{"major": 1, "minor": minor} for minor in (1, 2, 2)]
    assert results[0]["podScheduled"]["boundTo"] == "n1"
    assert results[0]["podScheduled"]["scheduleResult"] == results[2]["podUnscheduled"]["scheduleResult"] == []
    assert results[2]["podUnscheduled"]["pod"]["metadata"]["name"] == "c"
    assert not any(map(is_running, played.programs))


@proves("V2-064")
def test_the_minor_step_moves_before_the_write_is_carried_out(tmp_path: Path) -> None:
    spec = operations(create(1, node("n1")), create(1, pod("a")), done(1))
    log = Played(spec, tmp_path, toy("scheduler", "scheduler")).log
    bind = log.index("scheduler MODIFIED Pod a binding")
    paused = log.index((1, 1, "PAUSED", "scheduler"))
    assert log.index((1, 0, "RUNNING", "scheduler")) < paused < bind < log.index((1, 1, "OPERATED", "scheduler"))


def test_binds_that_arrive_together_are_a_minor_step_each(tmp_path: Path) -> None:
    """In the order of the pods: a bind runs beside the decision on the next pod, and may overtake."""
    spec = operations(create(1, node("n1")), *(create(1, pod(f"p{number}")) for number in range(6)), done(1))
    played = Played(spec, tmp_path, toy("scheduler", "scheduler", MODE="parallel"))
    bound = [entry for entry in played.entries(1) if "podScheduled" in entry]
    assert [entry["podScheduled"]["pod"]["metadata"]["name"] for entry in bound] == [f"p{n}" for n in range(6)]
    assert [entry["step"]["minor"] for entry in bound] == [1, 2, 3, 4, 5, 6]


def test_the_first_spelling_has_an_outside_scheduler_too(tmp_path: Path) -> None:
    spec = events(create(1, node("n1", 1)), create(1, pod("a")), create(2, pod("b")), done(2))
    played = Played(spec, tmp_path, toy("scheduler", "scheduler"))
    assert (played.phase, played.bound()) == ("Succeeded", {"a": "n1", "b": ""})
    assert [entry["operation"] for entry in played.entries(2)] == ["Create", "Done", "PodUnscheduled"]


def test_a_slow_scheduler_succeeds(tmp_path: Path) -> None:
    spec = operations(create(1, node("n1")), create(1, pod("a")), create(1, pod("b")), done(1))
    played = Played(spec, tmp_path, toy("scheduler", "scheduler", SECONDS=1, timeout="10s"))
    assert (played.phase, played.bound()) == ("Succeeded", {"a": "n1", "b": "n1"})


def test_a_write_outside_its_turn_is_carried_out_in_its_turn(tmp_path: Path) -> None:
    spec = operations(create(1, node("n1")), create(1, pod("a")), done(1))
    played = Played(spec, tmp_path, toy("scheduler", "scheduler", MODE="early", watches=("v1/Node",)))
    assert played.phase == "Succeeded"
    assert played.created("ConfigMap", 1) == [("early", {"major": 1, "minor": 1})]


def test_a_scheduler_that_crashes_fails_the_scenario(tmp_path: Path) -> None:
    spec = operations(create(1, node("n1")), create(1, pod("a")), create(1, pod("b")), done(1))
    played = Played(spec, tmp_path, toy("scheduler", "scheduler", MODE="crash"))
    assert played.phase == "Failed"
    assert "outside controller scheduler exited with code 1; its last output: the toy has crashed" in played.message


def test_a_scheduler_that_never_answers_fails_the_scenario(tmp_path: Path) -> None:
    spec = operations(create(1, node("n1")), create(1, pod("a")), done(1))
    played = Played(spec, tmp_path, toy("scheduler", "scheduler", MODE="silent", timeout="1s"))
    assert played.phase == "Failed"
    assert "showed no progress within 1 s: 1 pending pod has no verdict" in played.message
    assert "default/a" in played.message
    assert not any(map(is_running, played.programs))


def test_a_program_that_does_not_connect_fails_the_scenario(tmp_path: Path) -> None:
    spec = operations(create(1, pod("a")), done(1))
    played = Played(spec, tmp_path, toy("scheduler", "api", timeout="1s"))
    assert played.phase == "Failed"
    assert "outside controller scheduler" in played.message


def test_a_scheduler_that_never_stops_writing_fails_the_scenario(tmp_path: Path) -> None:
    spec = operations(create(1, node("n1")), create(1, pod("a")), done(1))
    played = Played(spec, tmp_path, toy("scheduler", "scheduler", MODE="busy"), max_loops=20)
    assert played.phase == "Failed"
    assert "did not come to rest within 20 loops" in played.message
    assert "scheduler (changed Node" in played.message


@proves("V2-070")
def test_two_outside_controllers_run_until_neither_can_do_more(tmp_path: Path) -> None:
    """What the autoscaler creates gives the scheduler new work in the same step."""
    items = create(1, node("n1", 1)), *(create(1, pod(name)) for name in "abcd"), done(2)
    spec = operations(*items, simulated=("scheduler", "autoscaler"))
    played = Played(spec, tmp_path, toy("scheduler", "scheduler"), toy("autoscaler", "autoscaler", quiet="1s"))
    assert (played.phase, played.message) == ("Succeeded", "done in step 2")
    assert played.bound() == {"a": "n1", "b": "n2", "c": "n3", "d": ""}
    running = [entry[3] for entry in played.log if isinstance(entry, tuple) and entry[2] == "COMPLETED"]
    assert running[:4] == ["scheduler", "autoscaler", "scheduler", "autoscaler"]


@proves("V2-048", "V2-072")
def test_a_controller_that_cooperates_stops_at_the_end_of_its_loop(tmp_path: Path) -> None:
    """Two operations of one loop share a minor step."""
    items = create(1, node("n1")), create(1, node("n2")), create(2, node("n3")), done(2)
    spec = operations(*items, simulated=("hoge-controller",))
    played = Played(spec, tmp_path, toy("hoge-controller", "cooperating", quiet="1s", watches=("v1/Node",)))
    assert played.phase == "Succeeded", played.message
    one = {"major": 2, "minor": 1}
    assert played.created("ConfigMap", 2) == [("n3-1", one), ("n3-2", one)]


@proves("V1-080", "V1-113")
def test_a_scheduler_with_one_call_of_ours_takes_part(tmp_path: Path) -> None:
    """It binds in parallel and reports no failure; the step ends when all were tried twice."""
    items = create(1, node("n1", 2)), *(create(1, pod(name)) for name in "abcd"), create(2, node("n2", 1)), done(2)
    played = Played(operations(*items), tmp_path, toy("scheduler", "one_by_one"))
    assert played.phase == "Succeeded", played.message
    assert sorted(played.bound().values()) == ["", "n1", "n1", "n2"]
    left = [entry for entry in played.entries(1) if "podUnscheduled" in entry]
    assert len(left) == 2


def test_a_scheduler_with_plain_watches_knows_the_nodes_of_a_step_before_its_pods(tmp_path: Path) -> None:
    spec = operations(
        *(create(step, node(f"n{step}-{number}", 1)) for step in (1, 2) for number in (1, 2)),
        *(create(step, pod(f"p{step}-{number}")) for step in (1, 2) for number in (1, 2)),
        done(3),
    )
    orders = []
    for run in ("first", "second"):
        played = Played(spec, tmp_path / run, toy("scheduler", "scheduler", PLAIN=1, NODE_SECONDS=0.02))
        assert played.phase == "Succeeded"
        orders.append([entry for entry in played.log if isinstance(entry, str) and "binding" in entry])
    assert orders[0] == orders[1] and len(orders[0]) == 4
    assert not any("podUnscheduled" in entry for step in (1, 2) for entry in played.entries(step))


def test_a_program_that_works_at_intervals_gets_its_turns(tmp_path: Path) -> None:
    items = create(1, node("n1")), create(1, node("n2")), create(2, node("n3")), done(3)
    spec = operations(*items, simulated=("labeller",))
    played = Played(spec, tmp_path, toy("labeller", "interval", rhythm="interval 600ms"))
    assert (played.phase, played.message) == ("Succeeded", "done in step 3")
    labelled = [entry for step in (1, 2) for entry in played.entries(step) if "patch" in entry]
    assert [entry["step"]["major"] for entry in labelled] == [1, 1, 2]


def test_a_program_that_wrote_nothing_is_named(tmp_path: Path) -> None:
    spec = operations(create(1, node("n1")), done(2), simulated=("labeller",))
    played = Played(spec, tmp_path, toy("labeller", "interval", rhythm="interval 300ms", MODE="idle", INTERVAL=0.1))
    assert played.message == "done in step 2; outside controller labeller wrote nothing in any turn"


def test_a_program_whose_first_request_is_a_write_has_come_up(tmp_path: Path) -> None:
    spec = operations(create(1, node("n1")), done(2), simulated=("writer",))
    played = Played(spec, tmp_path, toy("writer", "interval", MODE="blind", rhythm="interval 300ms", timeout="10s"))
    assert played.phase == "Succeeded", played.message
    assert played.created("ConfigMap", 1)
