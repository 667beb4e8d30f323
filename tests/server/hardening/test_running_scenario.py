"""Editing a Running Scenario is not starved by the writes of its status, however large that is."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from seatrial.scenario.scenario_resource import install, status_of
from seatrial.scenario.spec.kind import SCENARIO
from tests.server.client import Reply, Server
from tests.server.hardening.test_hardening import OPEN, ask
from tests.server.probing import run_delay
from tests.server.test_process import serving

PATH = f"/apis/{SCENARIO.api_version}/scenarios"
PATCH = "application/merge-patch+json"
ADDED = {"id": "added", "step": 9, "doneOperation": {}}


def pods(number: int) -> list[dict[str, Any]]:
    spec = {
        "containers": [{"name": "c", "image": "i", "env": [{"name": f"v{n}", "value": "x" * 40} for n in range(9)]}]
    }
    head = {"apiVersion": "v1", "kind": "Pod"}
    return [
        {"id": str(n), "step": 1, "createOperation": {"object": {**head, "metadata": {"name": f"p{n}"}, "spec": spec}}}
        for n in range(number)
    ]


@pytest.fixture
def server() -> Server:
    server = Server(max_request_bytes=64 << 20)
    install(server.store)
    operations = pods(900)
    head = {"apiVersion": SCENARIO.api_version, "kind": "Scenario", "metadata": {"name": "s"}}
    assert server("POST", PATH, {**head, "spec": {"operations": operations}}).status == 201
    return server


def write_status(server: Server, step: int, size: int) -> None:
    """Write the status as a run does: a phase, and a result that grows."""
    publish(server, [{"id": f"t{step}-{n}", "create": {"result": "x" * 500}} for n in range(size)])


def publish(server: Server, entries: list[dict[str, Any]]) -> None:
    stored = server.store.get(SCENARIO, "s")
    status = {"phase": "Running", "scenarioResult": {"timeline": {"1": entries}}}
    document = stored.document() | {"status": status}

    def pieces(revision: int) -> tuple[bytes, ...]:
        document["metadata"]["resourceVersion"] = str(revision)
        return (json.dumps(document).encode(),)

    server.store.write_pieces(stored, pieces, writer="scenario")


def edit_while_running(server: Server, body: Any, **headers: str) -> tuple[Reply, float]:
    """The answer to an edit during which the status is written again and again, and the seconds it took."""

    async def scene() -> tuple[Reply, float]:
        start, step = time.monotonic(), 0
        asked = asyncio.ensure_future(server.send("PATCH", f"{PATH}/s?fieldManager=me", body, **headers))
        while not asked.done():
            write_status(server, step := step + 1, 5)
            await asyncio.sleep(0.005)
        return await asked, time.monotonic() - start

    return asyncio.run(scene())


def test_a_patch_of_the_spec_is_applied_while_the_status_is_written(server: Server) -> None:
    write_status(server, 0, 5)
    operations = [*server.store.get(SCENARIO, "s").document()["spec"]["operations"], ADDED]
    answer, _ = edit_while_running(server, {"spec": {"operations": operations}}, content_type=PATCH)
    assert answer.status == 200, answer.body[:300]
    assert len(answer.json()["spec"]["operations"]) == 901
    assert answer.json()["status"]["phase"] == "Running"


def test_the_status_of_the_moment_is_kept(server: Server) -> None:
    write_status(server, 7, 3)
    before = server.store.get(SCENARIO, "s").document()["status"]
    patch = {"metadata": {"labels": {"a": "b"}}}
    answer = server("PATCH", f"{PATH}/s", patch, content_type=PATCH)
    assert answer.status == 200
    assert answer.json()["status"] == before
    assert answer.json()["metadata"]["labels"] == {"a": "b"}
    stored = server.store.get(SCENARIO, "s")
    assert (stored.document(), status_of(stored)["phase"]) == (answer.json(), "Running")


def test_a_dry_run_shows_the_whole_status(server: Server) -> None:
    write_status(server, 7, 3)
    before = server.store.get(SCENARIO, "s").document()
    answer = server("PATCH", f"{PATH}/s?dryRun=All", {"metadata": {"labels": {"a": "b"}}}, content_type=PATCH)
    assert answer.json()["status"] == before["status"]
    assert server.store.get(SCENARIO, "s").document() == before


def test_ids_of_the_timeline_are_not_given_again(server: Server) -> None:
    entries = [{"id": "op-901", "create": {}}]
    document = server.store.get(SCENARIO, "s").document()
    publish(server, entries)
    added = {key: value for key, value in ADDED.items() if key != "id"}
    operations = [*document["spec"]["operations"], added]
    answer = server("PATCH", f"{PATH}/s", {"spec": {"operations": operations}}, content_type=PATCH)
    assert answer.status == 200
    assert answer.json()["spec"]["operations"][-1]["id"] == "op-902"


def node(name: str) -> dict[str, Any]:
    room = {"cpu": "9000", "memory": "9000Gi", "pods": "9000"}
    created = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": room}}
    return {"id": name, "step": 0, "createOperation": {"object": created}}


def test_a_running_scenario_is_edited_within_a_second_and_goes_on_with_it(tmp_path: Path) -> None:
    """The patch comes while 900 pods are scheduled; it was answered 504 after a minute."""
    later = [{**operation, "step": int(operation["id"]) // 3 + 1} for operation in pods(900)]
    spec = {
        "controllers": {"simulationControllers": {"enabled": [{"name": "scheduler"}]}},
        "operations": [*(node(f"n{number}") for number in range(20)), *later],
    }
    head = {"apiVersion": SCENARIO.api_version, "kind": "Scenario", "metadata": {"name": "s"}}
    added = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "added", "namespace": "default"}}
    more = [{"id": "added", "step": 400, "createOperation": {"object": added}}]
    more += [{"id": "done", "step": 401, "doneOperation": {}}]
    with serving(tmp_path, "--scheduler", *OPEN) as server:
        url, threads = server.url, Path(f"/proc/{server.process.pid}/task")
        body = json.dumps({**head, "spec": spec}).encode()
        assert ask(url, "POST", PATH, body, content_type="application/json")[0] == 201
        path, deadline = f"{PATH}/s", time.monotonic() + 240
        while (step := ask(url, "GET", path)[1].get("status", {}).get("stepStatus", {}).get("step", {})) == {}:
            assert time.monotonic() < deadline
        spec["operations"] = [*spec["operations"], *more]
        patch = json.dumps({"spec": spec}).encode()
        start, waited = time.monotonic(), run_delay(threads) + run_delay(Path("/proc/self/task"))
        status, answer = ask(url, "PATCH", path, patch, timeout=120, content_type=PATCH)
        seconds = time.monotonic() - start - (run_delay(threads) + run_delay(Path("/proc/self/task")) - waited)
        assert status == 200, answer
        assert answer["status"]["phase"] == "Running"
        assert step.get("major", 0) < 300
        assert seconds < 1
        while (found := ask(url, "GET", path)[1]["status"])["phase"] == "Running":
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert found["phase"] == "Succeeded"
        assert ask(url, "GET", "/api/v1/namespaces/default/configmaps/added")[0] == 200
