"""What the gate costs an outside scheduler: the same pods through the same kube-scheduler, gated and not gated.

Both times run from the start of the scheduler's process to the last bind, with a configuration that takes the client's
own rate limit (50 requests a second) out of the comparison.
"""

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from seatrial.bench.figures import Figure, all_met
from seatrial.bench.http_load import Connection, ServerProcess, request, running_server
from seatrial.model.errors import ConfigError, SeatrialError

NODES_PATH, PODS_PATH = "/api/v1/nodes", "/api/v1/namespaces/default/pods"
PENDING = f"{PODS_PATH}?fieldSelector=spec.nodeName%3D&limit=1"
PAUSE, LONGEST = 0.05, 300.0
TIMES = 3.0
"""How many times as long the gated run may take."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("outside")(bench_outside)


def bench_outside(
    scheduler: Annotated[str, typer.Option(help="The kube-scheduler to measure with.")] = "kube-scheduler",
    nodes: Annotated[int, typer.Option(min=1, help="Nodes.")] = 100,
    pods: Annotated[int, typer.Option(min=1, help="Pods.")] = 500,
) -> None:
    """Measure what a scenario costs an outside scheduler."""
    program = shutil.which(scheduler)
    if program is None:
        raise ConfigError("", "--scheduler", f"{scheduler} is not a program that can be run")
    with tempfile.TemporaryDirectory(prefix="seatrial-bench-") as directory:
        folder = Path(directory)
        (folder / "free.yaml").write_text(configuration(folder / "kubeconfig"))
        (folder / "gated.yaml").write_text(configuration(None))
        free = measure_free(program, folder, nodes, pods)
        gated = measure_gated(program, folder, nodes, pods)
    figures = [
        Figure("not gated", free, "s"),
        Figure("gated", gated, "s"),
        Figure("pods per second, gated", pods / gated, "pods/s", more_is_better=True),
        Figure("gated over not gated", gated / free, "times", must=TIMES),
    ]
    for figure in figures:
        typer.echo(figure.text())
    if not all_met(figures):
        raise typer.Exit(1)


def configuration(kubeconfig: Path | None) -> str:
    """A KubeSchedulerConfiguration without leader election and, practically, without a rate limit."""
    connection: dict[str, Any] = {"qps": 5000, "burst": 10_000}
    if kubeconfig is not None:
        connection["kubeconfig"] = str(kubeconfig)
    return json.dumps(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": connection,
        }
    )


def measure_free(program: str, folder: Path, nodes: int, pods: int) -> float:
    """Seconds until all pods are bound on a server where nothing waits."""
    with running_server("--no-scheduler", "--controllers", "node,pod", "--record", "none") as server:
        _write_kubeconfig(folder / "kubeconfig", server)
        return asyncio.run(_bind_all(server, program, folder, nodes, pods))


async def _bind_all(server: ServerProcess, program: str, folder: Path, nodes: int, pods: int) -> float:
    connection = await Connection.to(server)
    for path, documents in ((NODES_PATH, map(_node, range(nodes))), (PODS_PATH, map(_pod, range(pods)))):
        for document in documents:
            status, body = await connection.exchange(request("POST", path, json.dumps(document).encode()))
            assert status == 201, body
    command = [program, "--config", str(folder / "free.yaml"), "--secure-port", "0"]
    begin = time.perf_counter()
    with (folder / "free.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            while time.perf_counter() - begin < LONGEST and process.poll() is None:
                _, body = await connection.exchange(request("GET", PENDING))
                if not json.loads(body)["items"]:
                    return time.perf_counter() - begin
                await asyncio.sleep(PAUSE)
        finally:
            process.terminate()
            connection.close()
    raise SeatrialError(f"{program} did not bind {pods} pods within {LONGEST:g} s")


def measure_gated(program: str, folder: Path, nodes: int, pods: int) -> float:
    """Seconds until a scenario with the same nodes and pods is over."""
    created = [*map(_node, range(nodes)), *map(_pod, range(pods))]
    operations: list[dict[str, Any]] = [{"step": 1, "createOperation": {"object": one}} for one in created]
    document = {
        "apiVersion": "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "bench"},
        "spec": {
            "controllers": {
                "presimulationControllers": {
                    "enabled": [{"name": "node"}, {"name": "pod"}],
                    "disabled": [{"name": "*"}],
                },
                "simulationControllers": {"enabled": [{"name": "scheduler"}]},
            },
            "operations": [*operations, {"step": 1, "doneOperation": {}}],
        },
    }
    scenario = folder / "scenario.json"
    scenario.write_text(json.dumps(document))
    outside = f"scheduler={program} --config {folder / 'gated.yaml'} --secure-port 0"
    command = [str(Path(sys.executable).with_name("seatrial")), "run", str(scenario), "--outside", outside]
    options = ["--out", str(folder / "out"), "--record", "none", "--no-report", "--json"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=LONGEST, check=False)
    if done.returncode:
        raise SeatrialError(f"the gated run failed: {done.stderr or done.stdout}")
    summary = json.loads(done.stdout)
    if summary["pods"]["scheduled"] != pods:
        raise SeatrialError(f"the gated run scheduled {summary['pods']['scheduled']} of {pods} pods")
    return float(summary["seconds"])


def _write_kubeconfig(path: Path, server: ServerProcess) -> None:
    from seatrial.server.auth import write_kubeconfig

    write_kubeconfig(path, f"http://{server.host}:{server.port}", "", None)


def _node(number: int) -> dict[str, Any]:
    room = {"cpu": "32", "memory": "128Gi", "pods": "110"}
    status = {"allocatable": room, "capacity": room, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{number}"}, "status": status}


def _pod(number: int) -> dict[str, Any]:
    container = {"name": "app", "image": "example.com/app", "resources": {"requests": {"cpu": "100m"}}}
    metadata = {"name": f"pod-{number}", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}
