"""How long other clients wait while a scenario runs in `serve`: GET of a node and PUT of a lease, one at a time."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

from seatrial.bench.figures import Figure
from seatrial.bench.http_load import Connection, ServerProcess, request, running_server

SCENARIOS = "/apis/simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1/scenarios"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
PAUSE = 0.005
OVER = ("Succeeded", "Failed", "Paused")


def measure_latency(scenario: Path) -> list[Figure]:
    """Create the scenario in a server of its own, and ask it things until the scenario is over."""
    with running_server("--record", "summary") as server:
        return asyncio.run(_measure(server, scenario.read_bytes()))


async def _measure(server: ServerProcess, scenario: bytes) -> list[Figure]:
    connection = await Connection.to(server)
    lease: dict[str, Any] = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "bench"},
    }
    status, body = await connection.exchange(request("POST", SCENARIOS, scenario))
    assert status == 201, body
    name = json.loads(body)["metadata"]["name"]
    waits: list[float] = []
    number = 0
    while True:
        number += 1
        lease["spec"] = {"leaseTransitions": number}
        put = request("PUT", f"{LEASES}/bench", json.dumps(lease).encode())
        for message in (request("GET", "/api/v1/namespaces/kube-system"), put):
            begin = time.perf_counter()
            status, body = await connection.exchange(message)
            assert status < 300, body
            waits.append(time.perf_counter() - begin)
            await asyncio.sleep(PAUSE)
        lease = json.loads(body)
        if number % 50 == 0 and await _is_over(connection, name):
            break
    connection.close()
    waits.sort()
    return [
        Figure("requests while a scenario runs", len(waits), "requests"),
        Figure("p50 of GET and lease PUT", 1000 * waits[len(waits) // 2], "ms"),
        Figure("p99 of GET and lease PUT", 1000 * waits[len(waits) * 99 // 100], "ms", must=200),
        Figure("longest", 1000 * waits[-1], "ms"),
    ]


async def _is_over(connection: Connection, name: str) -> bool:
    """Ask for a table, which does not carry the result."""
    message = request("GET", f"{SCENARIOS}/{name}").replace(
        b"Accept: application/json\r\n", b"Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n"
    )
    status, body = await connection.exchange(message)
    assert status == 200, body
    cells = json.loads(body)["rows"][0]["cells"]
    return any(cell in OVER for cell in cells)
