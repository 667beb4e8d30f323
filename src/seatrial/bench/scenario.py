"""How fast scenarios are: pods per second from reading the file to the last output file, and cost over the steps.

With a server of its own it also measures what other clients feel, and the cost over the steps while one watches.

Every tenth step brings a wave of pods that fit nowhere; the next one labels the nodes they want. So waves are tried
in vain, swept, and then scheduled, by all default controllers in the second spelling.
"""

import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from seatrial.bench.figures import Figure, all_met

WAVE_EVERY = 10
NODES_PER_WAVE = 100
ROOM = {"cpu": "32", "memory": "128Gi", "pods": "110"}
MEBIBYTE = 1024 * 1024


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("scenario")(bench_scenario)


def bench_scenario(
    nodes: Annotated[int, typer.Option(help="Nodes.", min=1)] = 5000,
    pods: Annotated[int, typer.Option(help="Pods over all steps.", min=1)] = 20_000,
    steps: Annotated[int, typer.Option(help="Major steps.", min=WAVE_EVERY)] = 100,
    record: Annotated[
        Literal["none", "summary", "full"], typer.Option(help="What is kept of each attempt.")
    ] = "summary",
    serving: Annotated[bool, typer.Option(help="Also measure what other clients of a server feel.")] = True,
) -> None:
    """Measure a scenario from its file to its results."""
    from seatrial.bench.scenario_run import run_file
    from seatrial.bench.scenario_serving import measure_latency, measure_watched_growth

    with tempfile.TemporaryDirectory(prefix="seatrial-bench-") as folder:
        path = Path(folder) / "scenario.json"
        write_scenario(path, nodes, pods, steps)
        begin, cpu = time.perf_counter(), time.process_time()
        run, times = run_file(path, Path(folder), record)
        seconds, cpu_seconds = time.perf_counter() - begin, time.process_time() - cpu
        felt = measure_latency(path) if serving else []
        watched = measure_watched_growth(Path(folder)) if serving else None
    assert run.status.phase == "Succeeded", run.status.message
    scheduled = run.timeline.pods.scheduled
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEBIBYTE
    figures = [
        Figure("pods per second", scheduled / seconds, "pods/s", must=1500, goal=2500, more_is_better=True),
        Figure("pods per CPU second", scheduled / cpu_seconds, "pods/s", more_is_better=True),
        Figure("attempts", run.timeline.attempts, "attempts"),
        Figure("memory", memory, "MiB", must=1.2e9 / MEBIBYTE, goal=800e6 / MEBIBYTE),
        Figure("cost of a late step over an early one", growth(times), "times", must=2.0),
        *felt,
    ]
    if watched is not None:
        figures.append(Figure("cost of a late step over an early one, watched", watched, "times", must=2.0))
    for figure in figures:
        typer.echo(figure.text())
    if not all_met(figures):
        raise typer.Exit(1)


def growth(times: list[float]) -> float:
    """How much more the waves of the last half cost than those of the first half."""
    waves = [sum(times[start : start + WAVE_EVERY]) for start in range(0, len(times) - WAVE_EVERY, WAVE_EVERY)]
    half = len(waves) // 2
    early, late = waves[1 : half + 1], waves[half + 1 :]
    return (sum(late) / len(late)) / (sum(early) / len(early)) if early and late else 1.0


def write_scenario(path: Path, nodes: int, pods: int, steps: int) -> None:
    """Write the scenario as one JSON document."""
    import orjson

    spec = {
        "controllers": {"simulationControllers": {"enabled": [{"name": "scheduler"}]}},
        "operations": list(operations(nodes, pods, steps)),
    }
    head = {
        "apiVersion": "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "bench"},
    }
    path.write_bytes(orjson.dumps({**head, "spec": spec}))


def operations(nodes: int, pods: int, steps: int) -> Iterator[dict[str, Any]]:
    """Nodes first; then waves of pods that wait one step for their nodes."""
    for number in range(nodes):
        status = {"capacity": ROOM, "allocatable": ROOM}
        meta = {"name": f"node-{number:05}", "labels": {"kubernetes.io/hostname": f"node-{number:05}"}}
        yield _create(1, {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": status})
    waves = max(1, steps // WAVE_EVERY)
    for step in range(2, steps + 1):
        wave = step // WAVE_EVERY - 1
        if step % WAVE_EVERY == 0:
            for number in range(pods // waves):
                yield _create(step, pod(f"pod-{wave:03}-{number:05}", wave))
        elif step % WAVE_EVERY == 1:
            for number in range(NODES_PER_WAVE):
                yield _label(step, f"node-{(wave * NODES_PER_WAVE + number) % nodes:05}", wave)
        else:
            yield _label(step, f"node-{step % nodes:05}", -1)
    for number in range(NODES_PER_WAVE):
        yield _label(steps + 1, f"node-{((waves - 1) * NODES_PER_WAVE + number) % nodes:05}", waves - 1)
    yield {"step": steps + 1, "doneOperation": {}}


def pod(name: str, wave: int) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    spec = {"nodeSelector": {"wave": str(wave)}, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def _create(step: int, document: dict[str, Any]) -> dict[str, Any]:
    return {"step": step, "createOperation": {"object": document}}


def _label(step: int, node: str, wave: int) -> dict[str, Any]:
    key, value = ("wave", wave) if wave >= 0 else ("seen", step)
    patch = f'{{"metadata":{{"labels":{{"{key}":"{value}"}}}}}}'
    target = {"typeMeta": {"apiVersion": "v1", "kind": "Node"}, "objectMeta": {"name": node}}
    return {"step": step, "patchOperation": {**target, "patch": patch, "patchType": "application/merge-patch+json"}}
