"""Ids that the system gives to operations and timeline entries of a served Scenario stay what they are."""

from typing import Any

import pytest

from seatrial.clock.virtual import START
from seatrial.model.times import SECOND
from seatrial.scenario.spec.kind import SCENARIO
from seatrial.store.options import Patch, PatchOptions
from tests.proofs import proves
from tests.scenario.playing import create, done, operations
from tests.scenario.running import node, pod
from tests.scenario.serving import USER, Server


def write(server: Server, *items: dict[str, Any]) -> None:
    """What `kubectl apply` of a file without ids sends: the whole list, merged as JSON."""
    server.store.patch(SCENARIO, "play", Patch("merge", {"spec": {"operations": list(items)}}), writer=USER)
    server.run()


def ids_by_name(server: Server) -> dict[str, str]:
    return {item["createOperation"]["object"]["metadata"]["name"]: item["id"] for item in server.spec()}


@pytest.fixture
def paused() -> Server:
    server = Server()
    server.create(operations(create(1, node("n")), create(1, pod("a", cpu="99")), create(3, pod("later"))))
    server.run()
    return server


@proves("V1-011", "V2-018")
def test_an_operation_without_id_is_known_again_by_its_content(paused: Server) -> None:
    before = ids_by_name(paused)
    write(
        paused,
        create(5, pod("first")),
        create(1, node("n")),
        create(1, pod("a", cpu="99")),
        create(3, pod("later")),
    )
    after = ids_by_name(paused)
    assert {name: after[name] for name in before} == before
    assert after["first"] not in before.values()
    assert paused.status()["phase"] == "Paused"
    assert "ignored" not in paused.status()["message"]


@proves("V1-050", "V2-040")
def test_an_operation_inserted_at_the_top_is_carried_out_under_a_new_id(paused: Server) -> None:
    write(paused, create(5, pod("first")), *(create(*each) for each in ((1, node("n")), (3, pod("later")))))
    (entry,) = [entry for entry in paused.timeline()["5"] if "create" in entry]
    assert entry["create"]["operation"]["object"]["metadata"]["name"] == "first"
    given = [entry["id"] for step in paused.timeline().values() for entry in step]
    assert len(given) == len(set(given))


@proves("V1-050", "V2-040")
def test_an_id_of_the_timeline_is_never_given_to_another_operation(paused: Server) -> None:
    write(paused)
    write(paused, create(7, pod("x")), create(7, pod("y")), create(7, pod("z")), create(7, pod("w")))
    assert not set(ids_by_name(paused).values()) & {"op-1", "op-2", "op-3"}


@proves("V1-011", "V2-018")
@pytest.mark.parametrize("restart", [False, True])
def test_the_id_of_an_operation_that_was_removed_before_it_ran_is_not_given_again(restart: bool) -> None:
    server = Server()
    server.create(operations(create(1, node("n")), create(5, pod("early")), create(7, pod("late"))))
    server.work("Operating")
    assert ids_by_name(server) == {"n": "op-1", "early": "op-2", "late": "op-3"}
    write(server, create(1, node("n")))
    server = server.restarted() if restart else server
    write(server, create(1, node("n")), create(6, pod("other")), create(7, pod("late")))
    assert ids_by_name(server) == {"n": "op-1", "other": "op-4", "late": "op-5"}
    assert [entry["id"] for entry in server.timeline()["6"] if "create" in entry] == ["op-4"]


def test_an_operation_that_is_removed_in_the_step_that_ran_it_leaves_its_id_taken() -> None:
    """The step is not in the published timeline yet."""
    server = Server()
    server.create(operations(create(1, node("n")), create(1, pod("a")), done(3)))
    server.work("OperatingCompleted")
    assert "scenarioResult" not in server.status()
    write(server, create(1, node("n")))
    write(server, create(1, node("n")), create(2, pod("b")), done(3))
    assert server.status()["phase"] == "Succeeded"
    assert [entry["id"] for entry in server.timeline()["2"] if "create" in entry] == ["op-4"]
    assert (server.find("Pod", "b") or {})["spec"]["nodeName"] == "n"


def test_a_number_that_a_user_invents_does_not_stop_the_count(paused: Server) -> None:
    write(paused, {**create(6, pod("mine")), "id": "op-" + "9" * 5000})
    write(paused, create(8, pod("x")))
    assert ids_by_name(paused) == {"x": "op-4"}


def test_a_change_of_an_operation_that_was_carried_out_is_reported(paused: Server) -> None:
    write(paused, {**create(9, pod("again")), "id": "op-1"})
    assert "operation op-1: it was carried out before" in paused.status()["message"]
    assert "9" not in paused.timeline()


def test_equal_operations_keep_an_id_each() -> None:
    server = Server()
    twice = {"step": 2, "doneOperation": {"done": False}}
    server.create(operations(twice, twice))
    server.run()
    server.store.patch(SCENARIO, "play", Patch("merge", {"spec": {"operations": [twice, twice, twice]}}), writer=USER)
    assert [item["id"] for item in server.spec()] == ["op-1", "op-2", "op-3"]


def test_a_generator_that_is_applied_again_makes_nothing_twice() -> None:
    server = Server()
    generator = {"step": 1, "count": 3, "createOperation": {"object": node("n-${index}")}}
    server.create({**operations(), "generators": [generator]})
    server.run()
    server.store.patch(SCENARIO, "play", Patch("merge", {"spec": {"generators": [generator]}}), writer=USER)
    server.run()
    assert len(server.spec()) == 3
    assert server.status()["phase"] == "Paused"


@proves("V1-050", "V2-040")
def test_ids_of_the_timeline_go_on_after_a_restart(paused: Server) -> None:
    again = paused.restarted()
    again.store.patch(
        SCENARIO,
        "play",
        Patch("strategic", {"spec": {"operations": [{**create(4, pod("b")), "id": "b"}]}}),
        writer=USER,
    )
    again.run()
    given = [entry["id"] for step in again.timeline().values() for entry in step]
    assert list(again.timeline()) == ["1", "3", "4"]
    assert len(given) == len(set(given))


@proves("V1-068", "V1-069")
def test_attempts_before_a_restart_stay_in_the_schedule_result(paused: Server) -> None:
    def attempts(server: Server, step: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        (result,) = [
            entry["podUnscheduled"]
            for entry in server.timeline()[step]
            if entry.get("podUnscheduled", {}).get("pod", {}).get("metadata", {}).get("name") == "a"
        ]
        return result["scheduleResult"], result["createdAt"]

    before, created = attempts(paused, "3")
    again = paused.restarted()
    more = {"spec": {"operations": [{**create(4, pod("b")), "id": "b"}, {**done(4), "id": "done"}]}}
    again.store.patch(SCENARIO, "play", Patch("strategic", more), writer=USER)
    again.run()
    after, still_created = attempts(again, "4")
    assert after[: len(before)] == [{"step": attempt["step"]} for attempt in before]
    assert {attempt["step"]["major"] for attempt in after} == {1, 3, 4}
    assert still_created == created == {"major": 1, "minor": 0}


@proves("V2-018")
def test_operations_without_ids_are_applied_by_the_server() -> None:
    server = Server()

    def apply(*items: dict[str, Any]) -> None:
        body = {
            "apiVersion": "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1",
            "kind": "Scenario",
            "metadata": {"name": "play"},
            "spec": operations(*items),
        }
        options = PatchOptions(field_manager="kubectl")
        server.store.patch(SCENARIO, "play", Patch("apply", body), writer=USER, options=options)
        server.run()

    apply(create(1, node("n")), create(1, pod("a")))
    apply(create(2, pod("b")), create(1, node("n")), create(1, pod("a")), done(2))
    assert server.status()["phase"] == "Succeeded"
    ids = [item["id"] for item in server.spec()]
    assert ids[1:3] == ["op-1", "op-2"]
    assert len(set(ids)) == 4


@proves("V1-051", "V2-041")
@pytest.mark.parametrize("restart", [False, True])
def test_a_foreign_write_while_paused_is_filed_under_the_step_it_happened_in(paused: Server, restart: bool) -> None:
    server = paused.restarted() if restart else paused
    server.run()
    server.user_creates(node("foreign"))
    server.run()
    (entry,) = [entry for entry in server.timeline()["3"] if "foreign" in str(entry.get("create"))]
    assert entry["step"]["major"] == 3
    write(server, *server.spec(), {**create(8, pod("b")), "id": "b"})
    assert list(server.timeline()) == ["1", "3", "8"]
    for key, entries in server.timeline().items():
        assert {entry["step"]["major"] for entry in entries} == {int(key)}
        minors = [entry["step"]["minor"] for entry in entries]
        assert minors == sorted(minors)


def test_time_goes_on_after_a_restart() -> None:
    server = Server()
    server.create(operations(create(1, node("n")), create(4, pod("a"))), step_duration="60s")
    server.run()
    assert server.store.clock.now() == START + 240 * SECOND
    assert server.restarted().store.clock.now() == START + 240 * SECOND
