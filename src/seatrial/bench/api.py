"""How fast the API server is: pod creates per CPU-second, a long list, many watchers, and memory at scale."""

import asyncio
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from seatrial.bench.figures import Figure, all_met
from seatrial.bench.http_load import Connection, ServerProcess, request, running_server, send_all

PODS_PATH = "/api/v1/namespaces/default/pods"
ALONE = ("--no-scheduler", "--controllers", "")
"""The server alone, without scheduler and controllers."""
UNGUARDED = (
    "--authorization-mode",
    "AlwaysAllow",
    "--disable-admission-plugins",
    "MutatingAdmissionPolicy,MutatingAdmissionWebhook,ValidatingAdmissionPolicy,ValidatingAdmissionWebhook",
)
ROUNDS = 5
USER = "bench"
BINDINGS_PATH = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
BINDING = json.dumps(
    {
        "metadata": {"name": "bench"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:aggregate-to-edit"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER}],
    }
).encode()
LOOK_EVERY = 3.0
"""Seconds. Nodes renew their leases every ten, all together: two looks in that time might both see it."""
IDLE_SHARE = 0.02
"""Of one core: a server that takes less is at rest."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("api")(bench_api)


def bench_api(
    creates: Annotated[int, typer.Option(help="Pods created for the first figure.", min=ROUNDS)] = 5000,
    listed: Annotated[int, typer.Option(help="Pods in the long list.", min=1)] = 10_000,
    watchers: Annotated[int, typer.Option(help="Watchers at once.", min=1)] = 100,
    events: Annotated[int, typer.Option(help="Events that each watcher must get.", min=1)] = 2000,
    nodes: Annotated[int, typer.Option(help="Nodes for the memory figure.", min=1)] = 5000,
    pods: Annotated[int, typer.Option(help="Pods for the memory figure; 0 leaves it out.", min=0)] = 50_000,
    stored: Annotated[
        int, typer.Option(help="Pods in the data directory of a start; 0 leaves it out.", min=0)
    ] = 50_000,
) -> None:
    """Measure the API server in a process of its own."""
    figures: list[Figure] = []

    def note(*found: Figure) -> None:
        figures.extend(found)
        for figure in found:
            typer.echo(figure.text())

    with running_server(*ALONE) as server:
        note(*asyncio.run(measure_creates(server, creates)))
        asyncio.run(send_all(server, creation(creates, max(listed, creates))))
        note(*asyncio.run(measure_list(server, max(listed, creates))))
    with running_server(*ALONE, *UNGUARDED) as plain, running_server(*ALONE) as guarded:
        note(asyncio.run(measure_guards(plain, guarded, creates // ROUNDS)))
    if stored:
        with TemporaryDirectory() as data:
            note(*measure_durable(Path(data), creates, stored))
    with running_server(*ALONE) as server:
        note(*asyncio.run(measure_watchers(server, watchers, events)))
    if pods:
        for name, flags in (("the server alone", ALONE), ("default serve", ())):
            with running_server(*flags) as server:
                note(asyncio.run(measure_memory(server, name, nodes, pods, scheduled=flags is not ALONE)))
    if not all_met(figures):
        raise typer.Exit(1)


async def measure_creates(server: ServerProcess, number: int) -> list[Figure]:
    """Creates per CPU-second of the server, bodies made beforehand."""
    await send_all(server, creation(0, 200, prefix="warm"))
    messages = creation(0, number)
    cpu, start = server.cpu_seconds(), time.perf_counter()
    await send_all(server, messages)
    seconds, cpu = time.perf_counter() - start, server.cpu_seconds() - cpu
    return [
        Figure("pod creates per CPU-second", number / cpu, "/s", must=2500, goal=2500, more_is_better=True),
        Figure("pod creates per second", number / seconds, "/s"),
    ]


async def measure_guards(plain: ServerProcess, guarded: ServerProcess, number: int) -> Figure:
    """What RBAC and the admission that users configure add to a create, with no webhook and no policy.

    The rounds of both servers alternate, and the cheapest of each counts: other work on the machine adds to both.
    """
    best = {plain.pid: float("inf"), guarded.pid: float("inf")}
    for server in (plain, guarded):
        await send_all(server, [request("POST", BINDINGS_PATH, BINDING)])
        await send_all(server, creation(0, 200, prefix="warm", user=USER))
    for turn in range(ROUNDS):
        for server in (plain, guarded):
            messages = creation(0, number, prefix=f"turn{turn}", user=USER)
            cpu = server.cpu_seconds()
            await send_all(server, messages)
            best[server.pid] = min(best[server.pid], server.cpu_seconds() - cpu)
    share = (best[guarded.pid] / best[plain.pid] - 1) * 100
    return Figure("RBAC and admission add to a create", share, "%", must=10)


def measure_durable(data: Path, creates: int, stored: int) -> list[Figure]:
    """The same creates with a data directory, and the CPU time of a start with many pods in it."""
    flags = (*ALONE, "--data-dir", str(data))
    with running_server(*flags) as server:
        rate, speed = asyncio.run(measure_creates(server, creates))
        asyncio.run(
            send_all(server, (request("POST", PODS_PATH, pod_body(f"kept-{n:06}", padding=900)) for n in range(stored)))
        )
    with running_server(*flags) as server:
        cpu = server.cpu_seconds()
    return [
        Figure("pod creates per CPU-second, on disk", rate.value, "/s", goal=1500, more_is_better=True),
        Figure("pod creates per second, on disk", speed.value, "/s"),
        Figure(f"start with {stored:,} pods on disk", cpu, "s of CPU", must=3, goal=2),
    ]


async def measure_list(server: ServerProcess, number: int) -> list[Figure]:
    """A list of all pods: first byte and whole, the best of five."""
    connection = await Connection.to(server)
    rounds = [await connection.timed(request("GET", PODS_PATH)) for _ in range(5)]
    connection.close()
    first, whole = min(r[0] for r in rounds), min(r[1] for r in rounds)
    return [
        Figure(f"LIST of {number:,} pods, first byte", first * 1000, "ms", goal=50),
        Figure(f"LIST of {number:,} pods, whole ({rounds[0][2] / 1e6:.1f} MB)", whole * 1000, "ms", goal=400),
    ]


async def measure_watchers(server: ServerProcess, number: int, events: int) -> list[Figure]:
    """Many watchers on one kind: all get every event, in order."""
    ready: list[asyncio.Event] = [asyncio.Event() for _ in range(number)]
    watching = [asyncio.ensure_future(_watch(server, event, events)) for event in ready]
    for event in ready:
        await event.wait()
    cpu, start = server.cpu_seconds(), time.perf_counter()
    await send_all(server, creation(0, events))
    received = await asyncio.gather(*watching)
    seconds, cpu = time.perf_counter() - start, server.cpu_seconds() - cpu
    complete = sum(revisions == sorted(set(revisions)) and len(revisions) == events for revisions in received)
    return [
        Figure("watchers with every event in order", complete, f"of {number}", must=number, more_is_better=True),
        Figure(f"{number} watchers, {events} events", seconds, "s"),
        Figure("server CPU per event and watcher", cpu / (number * events) * 1e6, "µs"),
    ]


async def _watch(server: ServerProcess, ready: asyncio.Event, events: int) -> list[int]:
    """The revisions of the events that one watcher gets."""
    connection = await Connection.to(server)
    await connection.open_stream(request("GET", f"{PODS_PATH}?watch=true"))
    ready.set()
    revisions: list[int] = []
    rest = b""
    async for chunk in connection.chunks():
        *lines, rest = (rest + chunk).split(b"\n")
        revisions.extend(_revision(line) for line in lines)
        if len(revisions) >= events:
            break
    connection.close()
    return revisions


def _revision(line: bytes) -> int:
    start = line.index(b'"resourceVersion":"') + 19
    return int(line[start : line.index(b'"', start)])


async def measure_memory(server: ServerProcess, name: str, nodes: int, pods: int, *, scheduled: bool) -> Figure:
    """Resident memory with a large cluster when all is at rest; every pod has a node then if `scheduled`."""
    await send_all(server, (request("POST", "/api/v1/nodes", node_body(number)) for number in range(nodes)))
    await send_all(
        server, (request("POST", PODS_PATH, pod_body(f"pod-{number:06}", padding=900)) for number in range(pods))
    )
    await come_to_rest(server)
    while scheduled and await is_any_unbound(server):
        # On a busy machine a server may look idle while others have all processors.
        await come_to_rest(server)
    size = server.resident_megabytes()
    return Figure(f"memory of {name} with {nodes:,} nodes and {pods:,} pods", size, "MB", must=600, goal=450)


async def come_to_rest(server: ServerProcess) -> None:
    """Wait until the server has next to nothing to do."""
    spent = -1.0
    while server.cpu_seconds() - spent > IDLE_SHARE * LOOK_EVERY:
        spent = server.cpu_seconds()
        await asyncio.sleep(LOOK_EVERY)


async def is_any_unbound(server: ServerProcess) -> bool:
    """Whether some pod has no node yet."""
    connection = await Connection.to(server)
    _, body = await connection.exchange(request("GET", f"{PODS_PATH}?fieldSelector=spec.nodeName%3D&limit=1"))
    connection.close()
    return bool(json.loads(body)["items"])


def creation(start: int, end: int, prefix: str = "pod", user: str = "") -> list[bytes]:
    """Requests that create pods."""
    return [request("POST", PODS_PATH, pod_body(f"{prefix}-{number:06}"), user) for number in range(start, end)]


def pod_body(name: str, padding: int = 0) -> bytes:
    """A pod of an ordinary template: 1 KB as sent, and 2 KB as stored with some padding."""
    limits = {"cpu": "500m", "memory": "256Mi"}
    container: dict[str, Any] = {
        "name": "app",
        "image": "registry.example.com/team/app:1.2.3",
        "ports": [{"containerPort": 8080, "name": "http"}],
        "env": [{"name": "MODE", "value": "production"}, {"name": "LEVEL", "value": "info"}],
        "resources": {"requests": {"cpu": "250m", "memory": "128Mi"}, "limits": limits},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 5},
    }
    labels = {"app": "bench", "tier": "backend", "version": "v1"}
    metadata: dict[str, Any] = {"name": name, "labels": labels}
    if padding:
        metadata["annotations"] = {"example.com/note": "x" * padding}
    spec = {"containers": [container], "schedulerName": "default-scheduler"}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}).encode()


def node_body(number: int) -> bytes:
    """A node as a kubelet would report it."""
    resources = {"cpu": "16", "memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    labels = {"kubernetes.io/hostname": f"node-{number:05}", "topology.kubernetes.io/zone": f"zone-{number % 3}"}
    status = {"capacity": resources, "allocatable": resources, "conditions": [{"type": "Ready", "status": "True"}]}
    metadata = {"name": f"node-{number:05}", "labels": labels}
    return json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}).encode()
