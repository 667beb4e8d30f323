"""`/metrics` of the operator, read from its process and from its parts."""

import asyncio
import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from seatrial.operator.api_client import ApiClient, ApiError, Resource
from seatrial.operator.metrics import OperatorMetrics, serve_metrics, shown_phase
from tests.operator.cluster import seatrial_cluster
from tests.operator.kubelet import Kubelet, free_port
from tests.operator.objects import simulation, simulator, write_scenario
from tests.operator.processes import OperatorProcess

IDLE: dict[str, tuple[str, ...]] = {"idle:1": ("sleep", "600")}


class Listed(ApiClient):
    """An API server that only lists."""

    def __init__(self, **objects: list[dict[str, Any]]) -> None:
        self.objects, self.asked = objects, list[str]()

    async def items(self, resource: Resource, namespace: str) -> list[dict[str, Any]]:
        self.asked.append(resource.path(namespace))
        if resource.plural not in self.objects:
            raise ApiError(403, "not allowed")
        return self.objects[resource.plural]


def samples(page: str) -> dict[str, float]:
    found = re.findall(r"^([^#\s]\S*) (\S+)$", page, re.MULTILINE)
    return {name: float(value) for name, value in found}


def scraped(port: int) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        return samples(answer.read().decode())


def test_the_operator_shows_phases_and_reconciliations(tmp_path: Path) -> None:
    port = free_port()
    write_scenario(tmp_path / "good")
    with (
        seatrial_cluster(tmp_path) as cluster,
        Kubelet(cluster, tmp_path / "pods", IDLE),
        OperatorProcess(cluster.kubeconfig, tmp_path / "log", "--metrics-port", str(port), "--available-timeout", "0"),
    ):
        cluster.create(simulation("good", tmp_path / "good"))
        cluster.create(simulation("bad", tmp_path / "bad"))
        cluster.create(simulator("idle", image="idle:1", etcdURL="http://etcd:2379"))
        assert cluster.ended("good")["phase"] == "Completed"
        assert cluster.ended("bad")["phase"] == "Failed"
        found = scraped(port)
    assert found['seatrial_schedulersimulations{phase="Completed"}'] == 1
    assert found['seatrial_schedulersimulations{phase="Failed"}'] == 1
    assert found['seatrial_schedulersimulations{phase="Running"}'] == 0
    assert sum(value for name, value in found.items() if name.startswith("seatrial_simulators")) == 1
    done = sum(value for name, value in found.items() if 'reconcile_total{controller="schedulersimulation"' in name)
    assert done > 4
    assert found['controller_runtime_reconcile_time_seconds_count{controller="schedulersimulation"}'] == done
    assert found["process_resident_memory_bytes"] > 1_000_000


def test_a_reconciliation_is_counted_by_its_result() -> None:
    async def ends(again: float | None) -> float | None:
        return again

    async def fails() -> float | None:
        raise ApiError(500, "no luck")

    async def main() -> str:
        assert await metrics.measure("simulator", ends(None)) is None
        assert await metrics.measure("simulator", ends(10.0)) == 10.0
        with pytest.raises(ApiError, match="no luck"):
            await metrics.measure("simulator", fails())
        return await metrics.page()

    metrics = OperatorMetrics(Listed(schedulersimulations=[], simulators=[]), ())
    found = samples(asyncio.run(main()))
    for result in ("success", "requeue_after", "error"):
        assert found[f'controller_runtime_reconcile_total{{controller="simulator",result="{result}"}}'] == 1
    assert found['controller_runtime_reconcile_errors_total{controller="simulator"}'] == 1
    assert found['controller_runtime_reconcile_errors_total{controller="schedulersimulation"}'] == 0
    assert found['controller_runtime_reconcile_time_seconds_count{controller="simulator"}'] == 3


@pytest.mark.parametrize(
    ("status", "phase"),
    [
        (None, "Pending"),
        ({"startTime": "2026-01-01T00:00:00Z"}, "Running"),
        ({"startTime": "", "phase": "Failed"}, "Failed"),
    ],
)
def test_a_simulation_without_a_phase_is_pending_or_running(status: dict[str, str] | None, phase: str) -> None:
    assert shown_phase({"status": status}) == phase


def test_only_the_namespaces_of_the_operator_are_counted() -> None:
    api = Listed(schedulersimulations=[{}], simulators=[])
    found = samples(asyncio.run(OperatorMetrics(api, ("a", "b")).page()))
    assert found['seatrial_schedulersimulations{phase="Pending"}'] == 2
    assert [path.split("/", 4)[-1] for path in api.asked[:2]] == [
        f"namespaces/{name}/schedulersimulations" for name in "ab"
    ]


def test_reconciliations_are_shown_where_the_objects_cannot_be_listed(caplog: pytest.LogCaptureFixture) -> None:
    page = asyncio.run(OperatorMetrics(Listed(), ()).page())
    assert "controller_runtime_reconcile_total" in page and "phase" not in page
    assert "no phases in /metrics: not allowed (403)" in caplog.text


@pytest.mark.parametrize(("variable", "host"), [("KUBERNETES_SERVICE_HOST", None), ("HOME", "127.0.0.1")])
def test_a_pod_listens_on_all_addresses_and_a_laptop_on_loopback(
    variable: str, host: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str | None, int]] = []

    class Site(web.TCPSite):
        async def start(self) -> None:
            asked.append((self._host, self._port))

    async def main() -> None:
        async with serve_metrics(OperatorMetrics(Listed(), ()), 8081):
            pass

    monkeypatch.setattr("os.environ", {variable: "10.96.0.1"})
    monkeypatch.setattr(web, "TCPSite", Site)
    asyncio.run(main())
    assert asked == [(host, 8081)]
