"""`seatrial bench volcano`: pods per CPU-second of Volcano's scheduler, and how long ten thousand small jobs take.

A burst: all pods exist before the first session, in gangs with a minimum of all their pods, as in the measurements of
real vc-scheduler that the figures are compared with. Timed are the sessions with every binding, PodGroup status and
queue status written to the store; Events are not reported. The small jobs are measured as the simulation alone, and as
the whole command that a user types, from its start to its end.
"""

import json
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seatrial.bench.figures import Figure, all_met
from seatrial.bench.older_tree import seconds_of_children
from seatrial.bench.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Callable

    from seatrial.model.documents import Document
    from seatrial.store import Store

WRITER = "bench"
NAMESPACE = "default"
MOST_TURNS = 10_000_000
BURSTS = ((1_000, 2_000, None), (5_000, 1_000, None))
"""Nodes, and the pods per second there must and should be."""
GANGS, GANG_SIZE = 100, 100
SMALL_JOBS, SMALL_JOB_SECONDS = 10_000, 10.0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("volcano")(bench_volcano)


def bench_volcano(
    scale: Scale = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False,
) -> None:
    """Measure Volcano's scheduler with its Helm configuration on one core.

    Real vc-scheduler bound 25 to 40 pods a second on a machine with two cores.
    """
    figures: list[Figure] = []
    for figure in _figures(scale):
        figures.append(figure)
        if not as_json:
            typer.echo(figure.text())
    if as_json:
        typer.echo(json.dumps([_document(figure) for figure in figures], indent=2))
    if not all_met(figures):
        raise typer.Exit(1)


def _figures(scale: float) -> Any:
    gangs = max(round(GANGS * scale), 1)
    for nodes, must, goal in BURSTS:
        count = max(round(nodes * scale), 1)
        name = f"{count:,} nodes, {gangs} gangs of {GANG_SIZE} pods"
        yield Figure(name, _apart(burst, count, gangs, GANG_SIZE), "pods/s", must, goal, more_is_better=True)
    jobs = max(round(SMALL_JOBS * scale), 1)
    nodes = max(round(1_000 * scale), 1)
    for what, create in (("Volcano Jobs", create_job), ("PodGroups with a pod", create_single)):
        name = f"{jobs:,} {what} on {nodes:,} nodes in virtual time"
        yield Figure(name, _apart(small_jobs, nodes, jobs, create), "s", SMALL_JOB_SECONDS)
    name = f"{jobs:,} Volcano Jobs on {nodes:,} nodes by `vcsimctl run --clock virtual`, the whole command"
    yield Figure(name, whole_command(nodes, jobs), "s", SMALL_JOB_SECONDS)


def burst(nodes: int, gangs: int, size: int) -> float:
    """Pods bound per CPU-second where all of them exist before the first session."""
    from seatrial.volcano import VolcanoScheduler

    store = prepared(nodes)
    clock = store.clock
    for number in range(gangs):
        create_gang(store, f"gang-{number:05d}", size)
    scheduler = VolcanoScheduler(store, clock, events=False)
    scheduler.start()
    bound, seconds = 0, 0.0
    while bound < gangs * size:
        before = process_time()
        result = scheduler.schedule_one()
        seconds += process_time() - before
        if result is None or not result.binds:
            break
        bound += len(result.binds)
        clock.fire_next(outer=False)
    return bound / seconds if seconds else 0.0


def small_jobs(nodes: int, jobs: int, create: "Callable[[Store, str], None]") -> float:
    """CPU-seconds until jobs of one pod each, created at once, all run, their creation included."""
    from seatrial.controllers import build_controllers
    from seatrial.simulation import tune_collector
    from seatrial.volcano import VolcanoScheduler
    from seatrial.volcano.apis import kind_of
    from seatrial.volcano.controllers import build_controllers as volcano_controllers

    tune_collector()
    store = prepared(nodes)
    clock = store.clock
    actors: list[Any] = [
        volcano_controllers(store, clock),
        *build_controllers(store, clock, ["pod"]),
        VolcanoScheduler(store, clock, events=False),
    ]
    for actor in actors:
        actor.start()
    before = process_time()
    for number in range(jobs):
        create(store, f"job-{number:05d}")
    for _ in range(MOST_TURNS):
        worked = False
        for actor in actors:
            while actor.work():
                worked = True
        if not worked and not clock.fire_next(outer=False):
            break
    seconds = process_time() - before
    pods = [stored.document() for stored in store.list(kind_of(store, ("v1", "Pod")))]
    running = sum(pod["status"]["phase"] == "Running" for pod in pods)
    if running != jobs:
        raise RuntimeError(f"{running} of {jobs} pods run")
    return seconds


def whole_command(nodes: int, jobs: int) -> float:
    """CPU-seconds of `vcsimctl run` from its start to its end, for a test that creates jobs of one pod each."""
    with TemporaryDirectory(prefix="seatrial-bench-") as directory:
        test, cluster = _vcsim_files(Path(directory), nodes, jobs)
        program = str(Path(sys.executable).with_name("vcsimctl"))
        command = [program, "run", "--clock", "virtual", "--test", test, "--config", cluster, "--out", directory]
        before = seconds_of_children()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = seconds_of_children() - before
    if done.returncode:
        raise RuntimeError(f"vcsimctl run ended with exit code {done.returncode}: {done.stderr.strip()}")
    return seconds


def _vcsim_files(directory: Path, nodes: int, jobs: int) -> tuple[str, str]:
    """The files of a test that creates all jobs within a second, and of its cluster."""
    from seatrial.volcano.apis import SCHEDULING

    capacity = {"cpu": "32", "memory": "256Gi", "pods": "110"}
    groups = [{"name": "node", "count": nodes, "capacity": capacity}]
    timing, objects = {"qps": jobs, "duration": 1}, [{"name": "job", "objectPath": "job.yaml"}]
    load = {"namespaces": 1, "replicasPerNamespace": jobs, "timing": timing, "objects": objects}
    head = {"apiVersion": SCHEDULING, "metadata": {"name": "seatrial-bench"}}
    files = {
        "job.yaml": job_document("job"),
        "test.yaml": {**head, "kind": "SimulatorJob", "spec": load},
        "cluster.yaml": {**head, "kind": "SimulatorCluster", "spec": {"nodes": groups}},
    }
    for name, document in files.items():
        (directory / name).write_text(json.dumps(document))  # YAML as well
    return str(directory / "test.yaml"), str(directory / "cluster.yaml")


def prepared(nodes: int) -> "Store":
    """A store that serves Volcano, with nodes of 32 cpus and the open queue `default`."""
    from seatrial.scenario import fresh_store
    from seatrial.volcano.apis import QUEUE, kind_of
    from seatrial.volcano.apis.installation import install

    store = fresh_store(watched=False)
    install(store)

    def open_queue(document: "Document") -> None:
        document.setdefault("status", {})["state"] = "Open"

    store.modify(kind_of(store, QUEUE), "default", open_queue, writer=WRITER, subresource="status")
    kind = kind_of(store, ("v1", "Node"))
    resources = {"cpu": "32", "memory": "256Gi", "pods": "110"}
    for number in range(nodes):
        status = {"allocatable": resources, "capacity": resources}
        document = {"metadata": {"name": f"node-{number:05d}"}, "spec": {}, "status": status}
        store.create(kind, {"apiVersion": "v1", "kind": "Node", **document}, writer=WRITER)
    return store


def create_gang(store: "Store", name: str, size: int) -> None:
    """A PodGroup with pods of one cpu and one gibibyte."""
    from seatrial.volcano.apis import POD_GROUP, SCHEDULING, kind_of
    from seatrial.volcano.apis.labels import GROUP_NAME, TASK_SPEC

    least = {"cpu": str(size), "memory": f"{size}Gi"}
    group = {
        "apiVersion": SCHEDULING,
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"minMember": size, "queue": "default", "minResources": least},
    }
    store.create(kind_of(store, POD_GROUP), group, writer=WRITER, namespace=NAMESPACE)
    kind = kind_of(store, ("v1", "Pod"))
    requests = {"requests": {"cpu": "1", "memory": "1Gi"}}
    for number in range(size):
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"{name}-worker-{number}",
                "namespace": NAMESPACE,
                "annotations": {GROUP_NAME: name, TASK_SPEC: "worker"},
            },
            "spec": {
                "schedulerName": "volcano",
                "containers": [{"name": "main", "image": "busybox", "resources": requests}],
            },
        }
        store.create(kind, pod, writer=WRITER, namespace=NAMESPACE)


def create_single(store: "Store", name: str) -> None:
    """A PodGroup with one pod."""
    create_gang(store, name, 1)


def create_job(store: "Store", name: str) -> None:
    """A Volcano Job of one pod with one cpu and one gibibyte."""
    from seatrial.volcano.apis import JOB, kind_of

    job = job_document(name)
    job["metadata"]["namespace"] = NAMESPACE
    store.create(kind_of(store, JOB), job, writer=WRITER, namespace=NAMESPACE)


def job_document(name: str) -> "Document":
    """The Job, without a namespace."""
    from seatrial.volcano.apis import BATCH

    container = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    return {
        "apiVersion": BATCH,
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"tasks": [{"name": "work", "replicas": 1, "template": template}]},
    }


def _apart(work: Any, *given: Any) -> float:
    """The answer of some work, done in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return float(pool.submit(work, *given).result())


def _document(figure: Figure) -> dict[str, Any]:
    return {
        "figure": figure.name,
        "measured": round(figure.value, 1),
        "unit": figure.unit,
        "must": figure.must,
        "verdict": figure.verdict,
    }
