"""What a scenario in `serve` costs others, and what others cost it.

How long other clients wait while it runs: GET of a node and PUT of a lease, one at a time. And whether its steps get
dearer the longer it runs while a client watches the Scenario, which grows with each step.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from http import HTTPStatus
from itertools import pairwise
from pathlib import Path
from typing import Any

from seatrial.bench.figures import Figure
from seatrial.bench.http_load import Connection, ServerProcess, request, running_server
from seatrial.bench.scenario import WAVE_EVERY, write_scenario

SCENARIOS = "/apis/simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1/scenarios"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
LEASE: dict[str, Any] = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "bench"},
}
PAUSE = 0.005
NODES_WATCHED, PODS_WATCHED, STEPS_WATCHED = 400, 5200, 130
OVER = ("Succeeded", "Failed", "Paused")


def measure_latency(scenario: Path) -> list[Figure]:
    """Create the scenario in a server of its own, and ask it things until the scenario is over."""
    with running_server("--record", "summary") as server:
        return asyncio.run(_measure(server, scenario.read_bytes()))


async def _measure(server: ServerProcess, scenario: bytes) -> list[Figure]:
    connection = await Connection.to(server)
    lease = LEASE
    status, body = await connection.exchange(request("POST", SCENARIOS, scenario))
    assert status == 201, body
    name = json.loads(body)["metadata"]["name"]
    waits: list[float] = []
    number = 0
    while True:
        number += 1
        changed = lease | {"spec": {"leaseTransitions": number}}
        put = request("PUT", f"{LEASES}/bench", json.dumps(changed).encode())
        for message in (request("GET", "/api/v1/namespaces/kube-system"), put):
            begin = time.perf_counter()
            status, body = await connection.exchange(message)
            assert status < 300 or status == HTTPStatus.CONFLICT, body
            waits.append(time.perf_counter() - begin)
            await asyncio.sleep(PAUSE)
        # A Scenario that begins empties the cluster, this lease included: the next PUT creates it again.
        lease = LEASE if status == HTTPStatus.CONFLICT else json.loads(body)
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


def measure_watched_growth(folder: Path) -> float:
    """How much more CPU time the server takes for late waves than for early ones while the Scenario is watched."""
    scenario = folder / "watched.json"
    write_scenario(scenario, NODES_WATCHED, PODS_WATCHED, STEPS_WATCHED)
    with running_server("--record", "summary") as server:
        return asyncio.run(_watched_growth(server, scenario.read_bytes()))


async def _watched_growth(server: ServerProcess, scenario: bytes) -> float:
    observer, connection = await Connection.to(server), await Connection.to(server)
    await observer.open_stream(request("GET", "/api/v1/nodes?watch=true"))
    status, body = await connection.exchange(request("POST", SCENARIOS, scenario))
    assert status == 201, body
    watching = asyncio.create_task(_watch(server))
    times: list[float] = []
    async for _ in _quiet_steps(observer):
        times.append(server.cpu_seconds())
        if watching.done():
            watching.result()
    watching.cancel()
    observer.close()
    connection.close()
    return _growth([after - before for before, after in pairwise(times)])


async def _watch(server: ServerProcess) -> None:
    """Watch Scenarios as an informer does: with a list and a new watch whenever the stream ends."""
    while True:
        connection = await Connection.to(server)
        await connection.exchange(request("GET", SCENARIOS))
        await connection.open_stream(request("GET", f"{SCENARIOS}?watch=true"))
        async for _ in connection.chunks():
            pass
        connection.close()


async def _quiet_steps(observer: Connection) -> AsyncIterator[int]:
    """The step before each wave, which labels one node and does nothing else, until the last."""
    latest = 0
    async for chunk in observer.chunks():
        for step in map(int, re.findall(rb'"seen":"(\d+)"', chunk)):
            if step > latest and step % WAVE_EVERY == WAVE_EVERY - 1:
                yield step
            latest = max(latest, step)
        if latest >= STEPS_WATCHED - 1:
            return


def _growth(waves: list[float]) -> float:
    half = len(waves) // 2
    return (sum(waves[half:]) / (len(waves) - half)) / (sum(waves[:half]) / half)


async def _is_over(connection: Connection, name: str) -> bool:
    """Ask for a table, which does not carry the result."""
    message = request("GET", f"{SCENARIOS}/{name}").replace(
        b"Accept: application/json\r\n", b"Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n"
    )
    status, body = await connection.exchange(message)
    assert status == 200, body
    cells = json.loads(body)["rows"][0]["cells"]
    return any(cell in OVER for cell in cells)
