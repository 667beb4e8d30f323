"""Requests that are refused: with upstream's words, and before the server has done the work that they ask for."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.server.hardening.test_hardening import MAPS, OPEN, ask, config_map
from tests.server.test_process import Process, serving

PODS = "/api/v1/namespaces/default/pods"
JSON = "application/json"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with serving(tmp_path_factory.mktemp("home"), *OPEN) as found:
        yield found


def cpu_seconds(pid: int) -> float:
    """What a process has taken of a processor: the clock of another process, as Linux numbers them."""
    return time.clock_gettime((~pid << 3) | 2)


def first_line(url: str, request: bytes, seconds: float = 120) -> bytes:
    host, port = urlsplit(url).netloc.split(":")
    with socket.create_connection((host, int(port)), seconds) as connection:
        connection.sendall(request)
        return connection.recv(4000)


def test_two_host_headers_are_refused_as_go_refuses_them(server: Process) -> None:
    hosts = b"Host: 127.0.0.1\r\nHost: evil.example\r\n"
    for request in (b"GET /version HTTP/1.1\r\n" + hosts, b"POST /version HTTP/1.1\r\ncontent-length: 2\r\n" + hosts):
        answer = first_line(server.url, request + b"\r\n{}")
        assert answer.startswith(b"HTTP/1.1 400 "), answer
        assert answer.endswith(b"too many Host headers"), answer


def test_a_body_that_is_too_long_is_refused_before_it_arrives(server: Process) -> None:
    head = f"POST {MAPS} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: {JSON}\r\ncontent-length: 4000000\r\n\r\n"
    # The body never comes: a server that waited for it, even for 10 s, would not answer in time.
    assert b" 413 " in first_line(server.url, head.encode(), 8).split(b"\r\n")[0]


def test_a_client_that_sends_its_long_body_first_reads_the_refusal(server: Process) -> None:
    status, said = ask(server.url, "POST", MAPS, config_map("large", 20_000_000), content_type=JSON)
    assert status == 413
    assert said["message"] == "Request entity too large: limit is 3145728"


def test_an_object_of_too_many_values_is_refused_before_its_defaults_are_filled_in(server: Process) -> None:
    """Seconds of work, for a request that no client can be served with; 0.15 s now."""
    containers = [{"name": f"c{number}"} for number in range(150_000)]
    body = json.dumps({"metadata": {"name": "large"}, "spec": {"containers": containers}}).encode()
    pid = server.process.pid
    before = cpu_seconds(pid)
    status, said = ask(server.url, "POST", PODS, body, content_type=JSON)
    assert (status, said["reason"]) == (413, "RequestEntityTooLarge")
    assert cpu_seconds(pid) - before < 1


def test_a_name_whose_object_is_being_deleted_is_said_to_be_so(server: Process) -> None:
    body = json.dumps({"metadata": {"name": "held", "finalizers": ["example.org/hold"]}}).encode()
    assert ask(server.url, "POST", MAPS, body, content_type=JSON)[0] == 201
    assert ask(server.url, "POST", MAPS, body, content_type=JSON)[1]["message"] == 'configmaps "held" already exists'
    assert ask(server.url, "DELETE", f"{MAPS}/held")[0] == 200
    status, said = ask(server.url, "POST", MAPS, body, content_type=JSON)
    assert (status, said["reason"]) == (409, "AlreadyExists")
    assert said["message"] == 'object is being deleted: configmaps "held" already exists'
    patch = json.dumps([{"op": "remove", "path": "/metadata/finalizers"}]).encode()
    assert ask(server.url, "PATCH", f"{MAPS}/held", patch, content_type="application/json-patch+json")[0] == 200


def test_objects_that_a_scenario_left_have_an_age(tmp_path: Path) -> None:
    """They were made in 2030, by the time of the scenario."""
    created = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "left", "namespace": "default"}}
    operations = [{"step": 1, "createOperation": {"object": created}}, {"step": 2, "doneOperation": {}}]
    spec = {"controllers": {"simulationControllers": {"enabled": [{"name": "scheduler"}]}}, "operations": operations}
    group = "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1"
    scenario = {"apiVersion": group, "kind": "Scenario", "metadata": {"name": "s"}, "spec": spec}
    path = f"/apis/{group}/scenarios"
    with serving(tmp_path, "--scheduler", *OPEN) as server:
        assert ask(server.url, "POST", path, json.dumps(scenario).encode(), content_type=JSON)[0] == 201
        deadline = time.monotonic() + 120
        while ask(server.url, "GET", f"{path}/s")[1].get("status", {}).get("phase") != "Succeeded":
            assert time.monotonic() < deadline
            time.sleep(0.1)
        status, table = ask(server.url, "GET", MAPS, accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    assert status == 200
    ages = {row["cells"][0]: row["cells"][-1] for row in table["rows"]}
    assert ages["left"] == "0s"
    assert "<invalid>" not in ages.values()


NINES = "9" * 5_000
"""More digits than Python turns into a number."""
TEMPLATE: dict[str, Any] = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
ONCE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
OWNED = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
LONG_NUMBERS: dict[str, tuple[str, dict[str, Any]]] = {
    "jobs": ("batch/v1", {"completions": 5, "successPolicy": {"rules": [{"succeededIndexes": NINES}]}}),
    "cronjobs": ("batch/v1", {"schedule": f"{NINES} * * * *", "jobTemplate": {"spec": {"template": ONCE}}}),
    "deployments": ("apps/v1", {**OWNED, "strategy": {"rollingUpdate": {"maxUnavailable": f"{NINES}%"}}}),
    "daemonsets": ("apps/v1", {**OWNED, "updateStrategy": {"rollingUpdate": {"maxUnavailable": f"{NINES}%"}}}),
    "poddisruptionbudgets": ("policy/v1", {"minAvailable": f"{NINES}%"}),
}


@pytest.mark.parametrize("plural", LONG_NUMBERS)
def test_a_number_of_many_digits_is_refused_as_one_out_of_range(server: Process, plural: str) -> None:
    version, spec = LONG_NUMBERS[plural]
    spec = {**spec, "completionMode": "Indexed", "template": ONCE} if plural == "jobs" else spec
    body = json.dumps({"metadata": {"name": "long"}, "spec": spec}).encode()
    path = f"/apis/{version}/namespaces/default/{plural}"
    status, said = ask(server.url, "POST", path, body, content_type=JSON)
    assert (status, said["reason"]) == (422, "Invalid"), said


@pytest.mark.parametrize("query", ["resourceVersion=", "watch=1&resourceVersion=", "limit="])
def test_a_query_with_a_number_of_many_digits_is_refused(server: Process, query: str) -> None:
    assert ask(server.url, "GET", f"{MAPS}?{query}{NINES}")[0] in (400, 422)


def test_pods_and_ports_with_numbers_of_many_digits_are_refused(server: Process) -> None:
    spec = {**TEMPLATE["spec"], "tolerations": [{"key": "a", "operator": "Gt", "value": NINES}]}
    annotations = {"controller.kubernetes.io/pod-deletion-cost": NINES}
    body = json.dumps({"metadata": {"name": "long", "annotations": annotations}, "spec": spec}).encode()
    status, said = ask(server.url, "POST", PODS, body, content_type=JSON)
    fields = {cause["field"] for cause in said["details"]["causes"]}
    assert (status, fields >= {"spec.tolerations[0].value"}) == (422, True), said
    assert ask(server.url, "GET", f"/api/v1/namespaces/default/services/x:{NINES}/proxy")[0] == 404
