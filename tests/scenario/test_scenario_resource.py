"""Scenarios as API objects: the schema of their status, their columns, and the time they are created at."""

from collections.abc import Iterator
from typing import Any

import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.documents import Document
from seatrial.model.times import SECOND
from seatrial.scenario.cluster import fresh_store
from seatrial.scenario.scenario_resource import definition
from seatrial.scenario.spec.kind import SCENARIO
from seatrial.server.tables.registry import Tables
from seatrial.store.crd.schema_validation import walk
from tests.known_kinds import known_kind
from tests.proofs import proves
from tests.scenario.playing import create, done, events, operations
from tests.scenario.running import Run, node, pod
from tests.scenario.serving import Server


def status_schema() -> Document:
    schema: Document = definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]
    return schema


@proves("V1-007", "V2-032")
def test_the_status_has_a_schema() -> None:
    fields = status_schema()["properties"]
    assert list(fields)[:5] == ["phase", "message", "schedulerStatus", "stepStatus", "scenarioResult"]
    assert list(fields["stepStatus"]["properties"]) == ["step", "phase", "runningSimulationController"]
    assert list(fields["scenarioResult"]["properties"]) == ["simulatorVersion", "timeline"]


@proves("V1-027", "V1-045", "V2-036")
def test_the_phases_are_those_of_the_kep() -> None:
    phases = status_schema()["properties"]["phase"]["enum"]
    assert phases == ["Pending", "Running", "Paused", "Succeeded", "Failed", "Unknown"]


@proves("V1-037", "V2-035")
def test_the_phases_of_a_step_are_those_of_both_versions() -> None:
    assert status_schema()["properties"]["stepStatus"]["properties"]["phase"]["enum"] == [
        "OperatingEvents", "OperatingEventsFinished", "Scheduling", "SchedulingFinished", "Finished",
        "Operating", "OperatingCompleted", "ControllerRunning", "ControllerPaused", "ControllerCompleted",
    ]  # fmt: skip


def undescribed(schema: Document, path: str) -> Iterator[str]:
    if "description" not in schema:
        yield path
    for name, field in schema.get("properties", {}).items():
        yield from undescribed(field, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(inner := schema.get(key), dict) and inner.get("type") == "object":
            yield from undescribed(inner, path)


def test_every_field_of_the_status_is_described() -> None:
    assert list(undescribed(status_schema(), "status")) == []


@pytest.mark.parametrize("spelling", [events, operations])
def test_a_status_fits_its_schema(spelling: Any) -> None:
    run = Run(spelling(create(1, node("n")), create(1, pod("a")), create(2, pod("b", cpu="99")), done(2)))
    schema = status_schema()
    assert list(walk(schema, run.status, "status")) == []
    assert not list(unknown(run.status, schema, "status"))


def unknown(value: Any, schema: Document, path: str) -> Iterator[str]:
    """Fields that the API server would prune."""
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            field = schema.get("properties", {}).get(key) or schema.get("additionalProperties")
            if field is None:
                yield f"{path}.{key}"
            else:
                yield from unknown(inner, field, f"{path}.{key}")
    for item in value if isinstance(value, list) else ():
        yield from unknown(item, schema["items"], path)


def row(server: Server, name: str = "play") -> list[Any]:
    table = Tables(server.store).table(SCENARIO, "None")
    cells: list[Any] = table.row(server.store.get(SCENARIO, name).document(), "v1")["cells"]
    return cells


def test_the_step_is_printed_with_its_minor() -> None:
    server = Server()
    server.create(operations(create(2, node("n")), *(create(2, pod(f"p{i}", cpu="100m")) for i in range(13)), done(2)))
    server.run()
    assert row(server)[:3] == ["play", "Succeeded", "2.13"]


def test_the_step_of_events_is_printed_as_a_number() -> None:
    server = Server()
    server.create(events(create(3, node("n")), done(3)))
    server.run()
    assert row(server)[2] == "3"


def test_a_scenario_that_is_created_while_another_runs_has_a_real_age() -> None:
    clock = Clock()
    server = Server(fresh_store(clock))
    server.create(operations(create(1, node("n"))), "first")
    server.run()
    assert server.store.clock is not clock
    clock.advance(clock.now() + 5 * SECOND)
    server.create(operations(create(1, node("n"))), "second")
    clock.advance(clock.now() + 90 * SECOND)
    assert row(server, "second")[-1] == "90s"
    assert row(server, "first")[-1] == "95s"


def test_the_definition_of_an_earlier_version_is_brought_up_to_date() -> None:
    server = Server()
    name = definition()["metadata"]["name"]
    kind = known_kind(server.store.kinds, "apiextensions.k8s.io/v1", "CustomResourceDefinition")

    def forget_status(document: Document) -> None:
        del document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["phase"]

    server.store.modify(kind, name, forget_status, writer="test")
    again = Server(server.store)
    assert again.store.get(kind, name).document()["spec"]["versions"] == definition()["spec"]["versions"]
