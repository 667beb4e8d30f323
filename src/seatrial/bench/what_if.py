"""How long an answer about a cluster takes: CPU seconds of `seatrial what-if drain` of one zone, from the dump on.

The dump is written here: a cluster at rest in three zones, with Deployments of ten pods, every fourth guarded by a
budget, StatefulSets of five, and a DaemonSet. The command runs in a process of its own, so its start counts, too.
"""

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from seatrial.bench.figures import Figure, all_met

ZONES, APPS_PER_NAMESPACE = 3, 50
HASH = "7d9f"
REPLICAS = {"Deployment": 10, "StatefulSet": 5}
MUST = 60.0
"""CPU seconds for 5,000 nodes and 50,000 pods."""
MADE = "2026-01-01T00:00:00Z"
Document = dict[str, Any]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("what-if")(bench_what_if)


def bench_what_if(
    nodes: Annotated[int, typer.Option(help="Nodes, in three zones.", min=6)] = 5000,
    pods: Annotated[int, typer.Option(help="Pods, those of the DaemonSet included.", min=12)] = 50_000,
    question: Annotated[str, typer.Option(help="drain, outage, upgrade or remove: of one zone.")] = "drain",
) -> None:
    """Measure the answer to what a drain of one zone does."""
    with tempfile.TemporaryDirectory(prefix="seatrial-bench-") as folder:
        path = Path(folder) / "cluster.json"
        items = ",".join(map(json.dumps, cluster(nodes, pods)))
        path.write_text(f'{{"apiVersion":"v1","kind":"List","items":[{items}]}}')
        command = [sys.executable, "-c", "from seatrial.cli.main import main; main()", "what-if", question]
        chosen = ["-l", "topology.kubernetes.io/zone=zone-1", "--snapshot", str(path), "-o", "json"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([*command, *chosen], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    for sentence in json.loads(done.stdout)["sentences"]:
        typer.echo(sentence)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    figures = [
        Figure(f"{question} of a third of {nodes:,} nodes, {pods:,} pods", spent, "s of CPU", must=MUST),
        Figure("memory", after.ru_maxrss / 1024, "MiB"),
    ]
    for figure in figures:
        typer.echo(figure.text())
    if not all_met(figures):
        raise typer.Exit(1)


def cluster(nodes: int, pods: int) -> Iterator[Document]:
    """The objects of a cluster at rest."""
    for number in range(nodes):
        yield _node(number)
    yield from _workload("DaemonSet", "kube-system", "agent", range(nodes), nodes)
    left, number, place = pods - nodes, 0, 0
    while left > 0:
        kind = "StatefulSet" if number % 10 == 9 else "Deployment"
        count, team, app = min(left, REPLICAS[kind]), f"team-{number // APPS_PER_NAMESPACE}", f"app-{number:05}"
        if number % APPS_PER_NAMESPACE == 0:
            yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": team}}
        yield from _workload(kind, team, app, range(place, place + count), nodes)
        if number % 4 == 0:
            spec = {"selector": {"matchLabels": {"app": app}}, "maxUnavailable": 1}
            yield _made("policy/v1", "PodDisruptionBudget", team, app, spec=spec)
        left, number, place = left - count, number + 1, place + count


def _made(api: str, kind: str, namespace: str, name: str, **fields: Any) -> Document:
    metadata = {"name": name, "namespace": namespace, "uid": f"{kind.lower()}-{name}", "creationTimestamp": MADE}
    return {"apiVersion": api, "kind": kind, "metadata": metadata | fields.pop("metadata", {}), **fields}


def _node(number: int) -> Document:
    labels = {"kubernetes.io/hostname": f"node-{number:05}", "topology.kubernetes.io/zone": f"zone-{number % ZONES}"}
    room = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    conditions = [{"type": "Ready", "status": "True"}]
    made = _made("v1", "Node", "", f"node-{number:05}", spec={},
                 status={"allocatable": room, "capacity": room, "conditions": conditions})  # fmt: skip
    del made["metadata"]["namespace"]
    made["metadata"]["labels"] = labels
    return made


def _workload(kind: str, namespace: str, app: str, places: range, nodes: int) -> Iterator[Document]:
    """A workload with its pods, one on each of some nodes."""
    container = {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}
    template: Document = {"metadata": {"labels": {"app": app}}, "spec": {"containers": [container]}}
    spec: Document = {"selector": {"matchLabels": {"app": app}}, "template": template}
    count, labels, owner = len(places), {"app": app}, (kind, app)
    status: Document = {"replicas": count, "readyReplicas": count, "availableReplicas": count, "observedGeneration": 1}
    if kind == "DaemonSet":
        status = {"desiredNumberScheduled": count, "currentNumberScheduled": count, "numberReady": count}
        labels["controller-revision-hash"] = HASH
    elif kind == "StatefulSet":
        revision = labels["controller-revision-hash"] = f"{app}-{HASH}"
        status |= {"currentRevision": revision, "updateRevision": revision}
        spec |= {"replicas": count, "serviceName": app, "podManagementPolicy": "Parallel"}
    else:
        spec["replicas"] = count
        labels["pod-template-hash"] = HASH
        owner = ("ReplicaSet", f"{app}-{HASH}")
        yield _made("apps/v1", owner[0], namespace, owner[1], status=status,
                    spec={"selector": {"matchLabels": labels}, "replicas": count,
                          "template": {**template, "metadata": {"labels": labels}}},
                    metadata={"ownerReferences": [_reference(kind, app)], "labels": labels,
                              "annotations": {"deployment.kubernetes.io/revision": "1"}})  # fmt: skip
    yield _made("apps/v1", kind, namespace, app, spec=spec, status=status, metadata={"generation": 1})
    for number, place in enumerate(places):
        name = f"{owner[1]}-{number if kind == 'StatefulSet' else f'{place:05}'}"
        meta = {"ownerReferences": [_reference(*owner)], "labels": labels}
        conditions = [{"type": each, "status": "True"} for each in ("PodScheduled", "Initialized", "Ready")]
        yield _made("v1", "Pod", namespace, name, metadata=meta,
                    status={"phase": "Running", "conditions": conditions},
                    spec={**template["spec"], "nodeName": f"node-{place % nodes:05}"})  # fmt: skip


def _reference(kind: str, name: str) -> Document:
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"{kind.lower()}-{name}", "controller": True}
