"""What became of a shape, in the same words for the real programs and for `seatrial what-if`."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from typer.testing import CliRunner

from seatrial.cli.main import build
from seatrial.results import Result
from tests.outside.processes import OF_THE_PROGRAMS
from tests.outside.what_if.kubelets import POD_START
from tests.outside.what_if.real_side import Played
from tests.outside.what_if.shapes import Document, Shape

ERROR = re.compile(r'^(error when evicting pods/"[^"]+" -n "[^"]+": .+|cannot delete .+)$', re.M)
REFUSED = re.compile(r'error when evicting pods/"([^"]+)" -n "[^"]+" \(will retry after 5s\)')
CAUSE = re.compile(
    r"The disruption budget \S+ (?:needs \d+ healthy pods and has \d+|does not allow evicting pods) currently"
)


@dataclass(frozen=True)
class Outcome:
    """Pods go by name where the snapshot has them, and by count where a controller made them since."""

    errors: frozenset[str]
    """kubectl's last words; none where the node was drained."""
    held: Mapping[str, int]
    """How many pods of each app a budget held at least once; which of several is a race between kubectl's requests."""
    causes: frozenset[str]
    """What the API server said last of budgets that held a pod to the end; before, kubectl's requests race."""
    gone: frozenset[str]
    terminating: frozenset[str]
    left: Mapping[str, tuple[Any, ...]]
    """Pods of the snapshot that are where they were: node, phase, whether ready."""
    made: Mapping[tuple[Any, ...], int]
    """Pods since: app, phase, whether ready, and whether on a node that was emptied."""
    nodes: Mapping[str, tuple[Any, ...]]
    """Whether cordoned, and the taints."""


def real_outcome(shape: Shape, played: Played, before: list[Document], after: list[Document]) -> Outcome:
    """Of the real programs."""
    uids = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in _pods(before, shape)}
    pods = [(pod, uids.get(pod["metadata"]["name"]) == pod["metadata"]["uid"]) for pod in _pods(after, shape)]
    nodes = [each for each in after if each["kind"] == "Node"]
    apps = {pod["metadata"]["name"]: _app(pod) for pod in _pods(before, shape)}
    held = Counter(apps[name] for name in set(REFUSED.findall(played.text)))
    causes = CAUSE.findall(played.text)[-1:] if "timeout reached" in played.text else ()
    return _outcome(shape, set(ERROR.findall(played.text)), held, causes, uids, pods, nodes)


def answered_outcome(shape: Shape, snapshot: Path, folder: Path, before: list[Document]) -> Outcome:
    """Of `seatrial what-if` over the dump of the real cluster."""
    words = [shape.question, *shape.arguments, *shape.options, "--snapshot", str(snapshot)]
    words += ["--pod-start", f"{POD_START:g}s", *OF_THE_PROGRAMS]
    done = CliRunner().invoke(
        build("what-if"), ["what-if", *words, "-o", "json", "--out", str(folder)], catch_exceptions=False
    )
    answer = json.loads(done.stdout)
    apps = {f"{shape.name}/{pod['metadata']['name']}": _app(pod) for pod in _pods(before, shape)}
    held = {hold["pod"] for hold in answer["holds"]}
    errors = {error for listed in answer["nodes"]["failed"].values() for error in listed}
    pods, nodes = _final(folder, shape)
    names = [pod["metadata"]["name"] for pod in _pods(before, shape)]
    causes = [hold["why"] for hold in answer["holds"] if hold["seconds"] is None]
    return _outcome(shape, errors, Counter(apps[name] for name in held), causes, names, pods, nodes)


def _outcome(
    shape: Shape, errors: Iterable[str], held: Mapping[str, int], causes: Iterable[str], names: Iterable[str],
    pods: list[tuple[Document, bool]], nodes: list[Document],
) -> Outcome:  # fmt: skip
    first = shape.nodes[0]
    old = {pod["metadata"]["name"]: pod for pod, is_old in pods if is_old}
    ending = {name for name, pod in old.items() if "deletionTimestamp" in pod["metadata"]}
    made = Counter(
        (_app(pod), *_state(pod), pod["spec"].get("nodeName") == first) for pod, is_old in pods if not is_old
    )
    own = [each for each in nodes if each["metadata"]["labels"].get("shape") == shape.name]
    marks = {each["metadata"]["name"]: _marks(each) for each in own}
    left = {name: (pod["spec"].get("nodeName"), *_state(pod)) for name, pod in old.items() if name not in ending}
    return Outcome(frozenset(errors), dict(held), frozenset(causes), frozenset(set(names) - set(old)),
                   frozenset(ending), left, dict(made), marks)  # fmt: skip


def _final(folder: Path, shape: Shape) -> tuple[list[tuple[Document, bool]], list[Document]]:
    """The pods of a namespace at the end of a run, with whether the snapshot had them; and the nodes."""
    table = Result.load(folder).run.table
    assert table is not None
    rows = table.filter(pl.col("kind").is_in(["Pod", "Node"]) & ~pl.col("entry").is_in(["attempt", "unscheduled"]))
    found: dict[tuple[str, str], Document] = {}
    uids: dict[tuple[str, str], str] = {}
    for kind, namespace, name, writer, data in (
        rows.select("kind", "namespace", "name", "writer", "object").collect().iter_rows()
    ):
        if kind == "Pod" and namespace != shape.name:
            continue
        if data is None:
            found.pop((kind, name), None)
            continue
        document = found[kind, name] = json.loads(data)
        if writer == "snapshot":
            uids.setdefault((kind, name), document["metadata"]["uid"])
    pods = [(each, uids.get(key) == each["metadata"]["uid"]) for key, each in found.items() if key[0] == "Pod"]
    return pods, [each for key, each in found.items() if key[0] == "Node"]


def _pods(items: list[Document], shape: Shape) -> list[Document]:
    return [each for each in items if each["kind"] == "Pod" and each["metadata"]["namespace"] == shape.name]


def _app(pod: Document) -> str:
    return str(pod["metadata"]["labels"]["app"])


def _marks(node: Document) -> tuple[Any, ...]:
    taints = sorted(f"{taint['key']}:{taint['effect']}" for taint in node["spec"].get("taints", ()))
    return bool(node["spec"].get("unschedulable")), *taints


def _state(pod: Document) -> tuple[str, bool]:
    conditions = pod["status"].get("conditions", ())
    return pod["status"]["phase"], any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
