"""Scenarios as objects of a server: pending, running, paused, and what others do meanwhile."""

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.errors import Conflict, Invalid
from seatrial.model.openapi import openapi_document
from seatrial.scenario import scenario_reader
from seatrial.scenario.scenario_resource import definition, status_of
from seatrial.scenario.scenario_run import ScenarioRun
from seatrial.scenario.spec.kind import SCENARIO
from seatrial.store.objects import Stored
from seatrial.store.options import CreateOptions, Patch, PatchOptions
from tests.proofs import proves
from tests.scenario.playing import create, done, operations, patch, scenario
from tests.scenario.running import Run, node, pod
from tests.scenario.serving import USER, Server


@pytest.fixture
def server() -> Iterator[Server]:
    yield Server()


SPEC = operations(create(1, node("n")), create(1, pod("a")), done(2))


@proves("V1-001", "V1-005", "V1-041", "V1-106")
def test_creating_a_scenario_starts_it(server: Server) -> None:
    """And its status can be watched while it runs."""
    server.create(SPEC)
    server.run()
    assert server.status()["phase"] == "Succeeded"
    phases = [status.get("phase") for _, status in server.log]
    assert [phase for place, phase in enumerate(phases) if not place or phases[place - 1] != phase] == [
        None, "Pending", "Running", "Succeeded",
    ]  # fmt: skip


@proves("V1-001")
def test_a_served_scenario_gives_what_a_run_gives(server: Server) -> None:
    server.create(SPEC)
    server.run()
    assert _plain(server.status()) == _plain(Run(SPEC).status)


@proves("V1-040", "V1-106", "V2-087")
def test_scenarios_run_one_by_one_in_the_order_of_creation(server: Server) -> None:
    server.create(SPEC, "first")
    server.create(SPEC, "second")
    server.run()
    order = [name for name, status in server.log if status.get("phase") == "Running"]
    assert order == ["first"] * order.count("first") + ["second"] * order.count("second")
    assert {"first", "second"} == set(order)


@proves("V1-107")
def test_a_paused_scenario_keeps_the_next_one_pending(server: Server) -> None:
    server.create(operations(create(1, node("n"))), "first")
    server.create(SPEC, "second")
    server.run()
    assert server.status("first")["phase"] == "Paused"
    assert server.status("second")["phase"] == "Pending"
    server.store.delete(SCENARIO, "first", writer=USER)
    server.run()
    assert server.status("second")["phase"] == "Succeeded"


@proves("V1-092", "V1-111", "V2-004")
def test_operations_added_to_a_paused_scenario_make_it_go_on(server: Server) -> None:
    """The driver looks at the result and adds what is worst."""
    server.create(operations(create(1, node("n"))))
    server.run()
    assert server.status()["scenarioResult"]["timeline"]["1"]
    added = {"spec": {"operations": [create(2, pod("worst", cpu="64")), done(2)]}}
    for number, item in enumerate(added["spec"]["operations"]):
        item["id"] = f"added-{number}"
    server.store.patch(SCENARIO, "play", Patch("strategic", added), writer=USER)
    server.run()
    status = server.status()
    assert status["phase"] == "Succeeded"
    assert [key for entry in status["scenarioResult"]["timeline"]["2"] for key in entry if key.startswith("pod")] == [
        "podUnscheduled"
    ]


@proves("V1-010", "V2-007")
def test_operations_are_merged_by_id(server: Server) -> None:
    server.create(operations(create(1, node("n"), id="one"), create(5, pod("a"), id="two")))
    changed = {"spec": {"operations": [{"id": "two", "step": 7}, {"id": "three", "step": 9, "doneOperation": {}}]}}
    server.store.patch(SCENARIO, "play", Patch("strategic", changed), writer=USER)
    listed = server.store.get(SCENARIO, "play").document()["spec"]["operations"]
    assert {item["id"]: item["step"] for item in listed} == {"one": 1, "two": 7, "three": 9}
    assert next(item for item in listed if item["id"] == "two")["createOperation"]


def test_a_second_manager_applies_operations_of_its_own(server: Server) -> None:
    def applied(manager: str, *given: dict[str, Any]) -> list[str]:
        document = scenario(operations(*given))
        options = PatchOptions(field_manager=manager)
        stored = server.store.patch(SCENARIO, "play", Patch("apply", document), writer=USER, options=options)
        return [item["id"] for item in stored.document()["spec"]["operations"]]

    first = (create(5, node("n")), create(5, pod("a"), id="mine"))
    assert applied("first", *first) == ["op-1", "mine"]
    assert applied("second", create(6, pod("b"), id="yours")) == ["op-1", "mine", "yours"]
    assert applied("first", *first) == ["op-1", "mine", "yours"]
    with pytest.raises(Conflict, match=r'conflict with "first".*"mine".*step'):
        applied("second", create(7, pod("a"), id="mine"), create(6, pod("b"), id="yours"))
    assert applied("first", first[0]) == ["op-1", "yours"]
    assert applied("second", create(9, pod("c"))) == ["op-1", "op-2"]


@proves("V1-011")
def test_ids_are_set_when_a_scenario_is_created(server: Server) -> None:
    server.create(SPEC)
    listed = server.store.get(SCENARIO, "play").document()["spec"]["operations"]
    assert [item["id"] for item in listed] == ["op-1", "op-2", "op-3"]


@proves("V1-043")
def test_nothing_can_be_added_to_a_scenario_that_succeeded(server: Server) -> None:
    server.create(SPEC)
    server.run()
    more = {"spec": {"operations": [{"id": "late", "step": 9, "doneOperation": {}}]}}
    with pytest.raises(Invalid, match="has Succeeded"):
        server.store.patch(SCENARIO, "play", Patch("strategic", more), writer=USER)


@proves("V1-109", "V2-089")
def test_everything_that_was_there_before_is_removed(server: Server) -> None:
    """Custom resources too; system namespaces, priorities and definitions stay."""
    from tests.scenario.engine.test_operations import WIDGET, WIDGETS

    server.user_creates(WIDGETS)
    server.user_creates(WIDGET)
    server.user_creates(node("old"))
    server.user_creates(pod("old"))
    server.create(SPEC)
    server.run()
    assert server.find("Node", "old") is None
    assert server.find("Pod", "old") is None
    assert server.find("Widget", "w", "example.com/v1") is None
    assert server.find("Namespace", "kube-system") is not None
    assert server.find("PriorityClass", "system-node-critical", "scheduling.k8s.io/v1") is not None
    assert server.find("CustomResourceDefinition", "widgets.example.com", "apiextensions.k8s.io/v1") is not None


def test_what_works_in_real_time_stands_still_meanwhile(server: Server) -> None:
    server.create(operations(create(1, node("n"))))
    server.run()
    assert server.suspended
    server.store.delete(SCENARIO, "play", writer=USER)
    server.run()
    assert not server.suspended


def test_time_and_identities_are_virtual_only_in_a_scenario(server: Server) -> None:
    clock, identities = server.store.clock, server.store.identities
    server.create(SPEC)
    server.work("Operating")
    assert server.store.clock is not clock
    server.run()
    assert server.store.clock is clock
    assert server.store.identities is identities


@proves("V1-078", "V1-108", "V2-088")
def test_a_foreign_write_is_flagged(server: Server) -> None:
    server.create(SPEC)
    server.work("OperatingCompleted")
    server.user_creates(node("foreign"))
    server.run()
    assert server.status()["phase"] == "Succeeded"
    assert "ForeignWrite: admin created Node foreign" in server.status()["message"]


@proves("V1-078")
def test_a_foreign_write_fails_a_strict_scenario(server: Server) -> None:
    server.create(SPEC, foreign_writes="strict")
    server.work("OperatingCompleted")
    server.user_creates(node("foreign"))
    server.run()
    assert server.status()["phase"] == "Failed"
    assert "ForeignWrite" in server.status()["message"]


def test_a_strict_server_fails_scenarios_on_foreign_writes() -> None:
    server = Server(strict=True)
    server.create(operations(create(1, node("n"))))
    server.run()
    server.user_creates(node("foreign"))
    server.run()
    assert server.status()["phase"] == "Failed"


@proves("V1-044", "V1-108")
def test_a_change_of_configuration_fails_a_running_scenario(server: Server) -> None:
    server.create(SPEC)
    server.work("OperatingCompleted")
    server.controller.configuration_changed()
    assert server.status()["phase"] == "Failed"
    assert "configuration was changed" in server.status()["message"]
    assert not server.suspended


@proves("V1-103", "V2-086")
def test_a_restart_fails_a_running_scenario(server: Server) -> None:
    server.create(SPEC)
    server.work("OperatingCompleted")
    server.store.clock = Clock()
    again = Server(server.store)
    again.run()
    assert again.status()["phase"] == "Failed"
    assert again.status()["message"].startswith("the controller restarted while the Scenario was running")


@proves("V1-104")
def test_a_restart_starts_a_pending_scenario() -> None:
    first = Server()
    first.create(SPEC)
    again = Server(first.store)
    again.run()
    assert again.status()["phase"] == "Succeeded"


@proves("V1-104")
def test_a_paused_scenario_survives_a_restart_and_goes_on() -> None:
    first = Server()
    first.create(operations(create(1, node("n"))))
    first.run()
    first.store.clock = Clock()
    again = Server(first.store)
    again.run()
    assert again.status()["phase"] == "Paused"
    more = {"spec": {"operations": [{**create(2, pod("a")), "id": "x"}, {**done(2), "id": "y"}]}}
    again.store.patch(SCENARIO, "play", Patch("strategic", more), writer=USER)
    again.run()
    assert again.status()["phase"] == "Succeeded"
    assert list(again.status()["scenarioResult"]["timeline"]) == ["1", "2"]
    assert (again.find("Pod", "a") or {})["spec"]["nodeName"] == "n"


@proves("V1-027", "V1-041", "V1-042")
def test_the_phase_follows_the_life_of_a_scenario(server: Server) -> None:
    server.create(operations(create(1, node("n"))), "first")
    server.create(SPEC, "second")
    server.create(operations(create(1, node("n")), create(2, node("n")), done(3)), "third")
    server.run()
    more = {"spec": {"operations": [{**done(2), "id": "done"}]}}
    server.store.patch(SCENARIO, "first", Patch("strategic", more), writer=USER)
    server.run()

    def phases(name: str) -> list[str]:
        seen = [str(status["phase"]) for logged, status in server.log if logged == name and status.get("phase")]
        return [phase for phase, _ in itertools.groupby(seen)]

    assert phases("first") == ["Pending", "Running", "Paused", "Running", "Succeeded"]
    assert phases("second") == ["Pending", "Running", "Succeeded"]
    assert phases("third") == ["Pending", "Running", "Failed"]


def test_a_stop_does_not_leave_a_scenario_running(server: Server) -> None:
    server.create(SPEC)
    server.work("OperatingCompleted")
    server.controller.shut_down()
    assert server.status()["phase"] == "Failed"
    assert "server was stopped" in server.status()["message"]


def test_a_running_scenario_that_is_deleted_makes_room_for_the_next(server: Server) -> None:
    server.create(SPEC, "first")
    server.create(SPEC, "second")
    server.work("OperatingCompleted")
    server.store.delete(SCENARIO, "first", writer=USER)
    server.run()
    assert server.status("second")["phase"] == "Succeeded"


def test_a_reset_removes_everything(server: Server) -> None:
    server.create(operations(create(1, node("n"))))
    server.run()
    server.controller.reset()
    assert server.store.list(SCENARIO) == []
    assert server.find("Node", "n") is None
    assert not server.suspended


def test_the_status_is_read_without_its_result(server: Server) -> None:
    server.create(SPEC)
    server.run()
    stored = server.store.get(SCENARIO, "play")
    whole = stored.document()["status"]
    del whole["scenarioResult"]
    assert status_of(stored) == whole


def test_revisions_share_what_did_not_change(server: Server) -> None:
    """A change of phase costs no more after many steps than in the first one."""
    pods = [create(step, pod(f"p-{step}")) for step in range(2, 12)]
    server.create(operations(create(1, node("n")), *pods, done(12)))
    sizes: list[int] = []
    server.store.subscribe(
        lambda change: sizes.append(
            len(change.stored.content[0]) + len(change.stored.content[-1])
            if isinstance(change.stored.content, tuple)
            else 0
        ),
        [SCENARIO],
    )
    server.run()
    assert server.status()["phase"] == "Succeeded"
    assert max(sizes[20:]) < 2 * min(size for size in sizes[3:20] if size)


@proves("V1-006", "V2-006")
def test_scenarios_may_be_large(server: Server) -> None:
    big = pod("big")
    big["metadata"]["annotations"] = {"filler": "x" * 200_000}
    server.create(
        operations(*(create(1, {**big, "metadata": {**big["metadata"], "name": f"p-{n}"}}) for n in range(30)))
    )
    server.run()
    assert server.status()["phase"] == "Paused"


@proves("V1-014")
def test_an_invalid_scenario_is_stored_and_fails(server: Server) -> None:
    server.create({"events": [{"id": "mine", "step": 1}]})
    server.run()
    assert server.status()["phase"] == "Failed"
    assert "operation mine" in server.status()["message"]


@proves("V1-025")
def test_what_cannot_be_decoded_is_refused(server: Server) -> None:
    document = scenario(operations({"step": -1, "doneOperation": {}}))
    with pytest.raises(Invalid, match="step"):
        server.store.create(SCENARIO, document, writer=USER, options=CreateOptions(field_validation="Strict"))


@pytest.mark.parametrize(
    ("spec", "field", "said"),
    [
        (operations(done(1), {"step": "one", "doneOperation": {}}), "spec.operations[1].step", "got `str`"),
        (
            {**operations(), "generators": [{"step": 1, "from": {"csv": "trace.csv"}, "createOperation": {}}]},
            "spec.generators[0]",
            "files are read by `seatrial run` only",
        ),
    ],
)
def test_what_is_refused_has_a_name_and_a_cause(server: Server, spec: dict[str, Any], field: str, said: str) -> None:
    """kubectl prints the causes and nothing else."""
    with pytest.raises(Invalid) as refused:
        server.store.create(SCENARIO, scenario(spec), writer=USER)
    details = refused.value.status()["details"]
    assert details["name"] == "play"
    (cause,) = details["causes"]
    assert cause["field"] == field
    assert said in cause["message"]


@proves("V1-005", "V1-004")
def test_the_definition_is_served() -> None:
    server = Server()
    found = server.find("CustomResourceDefinition", definition()["metadata"]["name"], "apiextensions.k8s.io/v1")
    assert found is not None
    assert found["spec"]["scope"] == "Cluster"


def _plain(value: Any) -> Any:
    """Without what may differ between two clusters."""
    left_out = {"uid", "resourceVersion", "creationTimestamp", "managedFields", "lastTransitionTime", "annotations"}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if key not in left_out}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def test_a_scenario_with_a_broken_patch_fails_and_the_next_one_runs(server: Server) -> None:
    server.create(operations(create(1, node("n")), {**patch(1, node("n"), "{a: ["), "id": "broken"}), "first")
    server.create(SPEC, "second")
    server.run()
    assert server.status("first")["phase"] == "Failed"
    assert "operation broken" in server.status("first")["message"]
    assert server.status("second")["phase"] == "Succeeded"


def test_an_unexpected_error_fails_the_scenario_and_the_next_one_runs(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(self: ScenarioRun) -> Iterator[None]:
        if self.document["metadata"]["name"] == "first":
            raise RuntimeError("boom")
        yield from run(self)

    run = ScenarioRun.run
    monkeypatch.setattr(ScenarioRun, "run", stumble)
    server.create(SPEC, "first")
    server.create(SPEC, "second")
    server.run()
    assert (server.status("first")["phase"], server.status("first")["message"]) == ("Failed", "RuntimeError: boom")
    assert server.status("second")["phase"] == "Succeeded"


def test_a_scenario_whose_objects_have_managed_fields_can_be_patched(server: Server) -> None:
    owned = node("n")
    owned["metadata"]["managedFields"] = [{"manager": "other", "operation": "Update"}]
    server.create(operations(create(1, owned), done(2)))
    change = Patch("json", [{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}])
    stored = server.store.patch(SCENARIO, "play", change, writer=USER)
    assert stored.document()["metadata"]["labels"] == {"a": "b"}


def test_merging_by_id_is_not_published_and_still_done(server: Server) -> None:
    spec = definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    published = openapi_document([SCENARIO], {(SCENARIO.api_version, SCENARIO.kind): {"type": "object"}})
    patched = published["paths"][f"/apis/{SCENARIO.api_version}/scenarios/{{name}}"]["patch"]["requestBody"]["content"]
    assert not any("patch" in key for listing in ("events", "operations") for key in spec[listing])
    assert "application/merge-patch+json" in patched
    assert "application/strategic-merge-patch+json" not in patched
    server.create(operations(create(1, node("n"), id="first")))
    more = {"spec": {"operations": [create(1, node("m"), id="second")]}}
    stored = server.store.patch(SCENARIO, "play", Patch("strategic", more), writer=USER)
    assert {item["id"] for item in stored.document()["spec"]["operations"]} == {"first", "second"}


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """The reading of a large Scenario waits for this event, however fast the machine is."""
    go_on, read = threading.Event(), scenario_reader._read

    def wait_and_read(stored: Stored, memory: int | None) -> Any:
        assert go_on.wait(20)
        return read(stored, memory)

    monkeypatch.setattr(scenario_reader, "_read", wait_and_read)
    return go_on


def test_a_large_scenario_is_read_while_a_server_answers(server: Server, reading: threading.Event) -> None:
    """A caller that can be woken does not wait for the reading; the run is the same."""
    woken = threading.Event()
    server.controller.wake_by(woken.set)
    filler = {"annotations": {"filler": "x" * 200_000}}
    pods = [create(1, {**pod(f"p-{n}"), "metadata": {**pod(f"p-{n}")["metadata"], **filler}}) for n in range(5)]
    spec = operations(create(1, node("n")), *pods, done(2))
    server.create(spec)
    server.run()
    assert server.status()["phase"] == "Pending"
    reading.set()
    assert woken.wait(20)
    server.run()
    assert _plain(server.status()) == _plain(Run(spec).status)


def test_a_large_scenario_that_changes_while_it_is_read_is_read_again(server: Server, reading: threading.Event) -> None:
    woken = threading.Event()
    server.controller.wake_by(woken.set)
    filler = {"annotations": {"filler": "x" * 200_000}}
    pods = [create(1, {**pod(f"p-{n}"), "metadata": {**pod(f"p-{n}")["metadata"], **filler}}) for n in range(2)]
    server.create(operations(create(1, node("n")), *pods))
    server.controller.work()
    assert server.status()["phase"] == "Pending"
    server.controller.work()
    body = [{"op": "add", "path": "/spec/operations/-", "value": done(2)}]
    server.store.patch(SCENARIO, "play", Patch("json", body), writer=USER)
    reading.set()
    for _ in range(2):
        assert woken.wait(20)
        woken.clear()
        server.run()
    assert server.status()["phase"] == "Succeeded"
