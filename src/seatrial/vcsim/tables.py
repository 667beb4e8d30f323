"""Nodes, pods and queues from CSV files, with the run times of pods.

nodes.csv    name,count,cpu,memory,pods and any other resource; labels as key=value;key=value
pods.csv     name,createtime,runsec,cpu,memory and any other resource; job,minmember,queue,priorityclass,
             nodeselector. Times are seconds; pods of one job are one gang.
queues.csv   name,weight,parent,reclaimable,priority; capability.cpu, deserved.cpu, guarantee.cpu and so on
"""

import csv
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError
from seatrial.model.quantity import Quantity, QuantityError
from seatrial.model.times import SECOND
from seatrial.scenario.spec.kind import RUN_DURATION
from seatrial.store import subdomain_faults
from seatrial.vcsim.kinds import NodeSpec
from seatrial.vcsim.workload import Arrival, Workload, in_order
from seatrial.volcano.apis import SCHEDULER_NAME, SCHEDULING
from seatrial.volcano.apis.labels import GROUP_NAME, QUEUE_NAME

NAMESPACE: Final = "default"
POD_COLUMNS: Final = (
    "name", "createtime", "runsec", "job", "minmember", "queue", "priorityclass", "nodeselector",
)  # fmt: skip
_AMOUNTS: Final = ("capability", "deserved", "guarantee")

Row = dict[str, str]


def read_nodes(path: Path) -> list[tuple[NodeSpec, dict[str, str]]]:
    """Groups of nodes with their labels."""
    found = []
    for line, row in _rows(path, ("name",)):
        count = _whole(path, line, "count", row.get("count") or "1", least=1)
        _name(path, line, "name", row["name"])
        amounts = {name: value for name, value in row.items() if name not in ("name", "count", "labels") and value}
        for name, value in amounts.items():
            _quantity(path, line, name, value)
        labels = _pairs(path, line, "labels", row.get("labels", ""))
        found.append((NodeSpec(name=row["name"], count=count, capacity=dict(amounts)), labels))
    return found


def read_queues(path: Path) -> list[Document]:
    """Queues, parents before their children."""
    found: dict[str, Document] = {}
    for line, row in _rows(path, ("name",)):
        _name(path, line, "name", row["name"])
        spec: dict[str, Any] = {"weight": _whole(path, line, "weight", row.get("weight") or "1", least=1)}
        if row.get("parent"):
            spec["parent"] = row["parent"]
        if row.get("priority"):
            spec["priority"] = _whole(path, line, "priority", row["priority"])
        if row.get("reclaimable"):
            spec["reclaimable"] = row["reclaimable"].lower() in ("true", "yes", "1")
        for column, value in row.items():
            field, _, resource = column.partition(".")
            if field in _AMOUNTS and resource and value:
                _quantity(path, line, column, value)
                place = spec.setdefault(field, {})
                (place.setdefault("resource", {}) if field == "guarantee" else place)[resource] = value
        metadata = {"name": row["name"]}
        found[row["name"]] = {"apiVersion": SCHEDULING, "kind": "Queue", "metadata": metadata, "spec": spec}
    return _parents_first(found)


def read_pods(path: Path, queues: Collection[str]) -> Workload:
    """Pods and the PodGroups of their jobs, at the times of the table; their queues must be among these."""
    arrivals: list[Arrival] = []
    groups: dict[str, tuple[int, int, Row]] = {}
    for line, row in _rows(path, ("name", "createtime")):
        at = round(_seconds(path, line, "createtime", row["createtime"]) * SECOND)
        for column in ("name", "job"):
            if row.get(column):
                _name(path, line, column, row[column])
        if row.get("queue") and row["queue"] not in queues:
            known = ", ".join(sorted(queues))
            why = f"there is no queue {row['queue']!r}; known: {known}. More come from --queues FILE"
            raise ConfigError(f"{path}:{line}", "queue", why)
        arrivals.append(Arrival(at, _pod(path, line, row), path))
        if row.get("job"):
            least = _whole(path, line, "minmember", row.get("minmember") or "0")
            first, most, kept = groups.get(row["job"], (at, 0, row))
            groups[row["job"]] = (min(first, at), max(most, least), kept)
    sizes: dict[str, int] = {}
    for arrival in arrivals:
        name = (arrival.document["metadata"].get("annotations") or {}).get(GROUP_NAME)
        if name:
            sizes[name] = sizes.get(name, 0) + 1
    made = [
        Arrival(at, _group(name, least or sizes[name], row), path, sizes[name])
        for name, (at, least, row) in groups.items()
    ]
    return Workload([], in_order([*made, *arrivals]), len(arrivals))


def _pod(path: Path, line: int, row: Row) -> Document:
    amounts = {name: value for name, value in row.items() if name not in POD_COLUMNS and value}
    for name, value in amounts.items():
        _quantity(path, line, name, value)
    notes: dict[str, str] = {}
    if row.get("runsec"):
        notes[RUN_DURATION] = f"{_seconds(path, line, 'runsec', row['runsec']):g}s"
    if row.get("job"):
        notes[GROUP_NAME] = row["job"]
    elif row.get("queue"):
        notes[QUEUE_NAME] = row["queue"]
    container = {"name": "main", "image": "simulated", "resources": {"requests": amounts, "limits": _limits(amounts)}}
    spec: dict[str, Any] = {"schedulerName": SCHEDULER_NAME, "restartPolicy": "Never", "containers": [container]}
    if row.get("priorityclass"):
        spec["priorityClassName"] = row["priorityclass"]
    if selector := _pairs(path, line, "nodeselector", row.get("nodeselector", "")):
        spec["nodeSelector"] = selector
    metadata = {"name": row["name"], "namespace": NAMESPACE, "annotations": notes}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _limits(amounts: dict[str, str]) -> dict[str, str]:
    """Extended resources need a limit equal to their request."""
    return {name: value for name, value in amounts.items() if "/" in name}


def _group(name: str, least: int, row: Row) -> Document:
    spec: dict[str, Any] = {"minMember": least}
    for column, field in (("queue", "queue"), ("priorityclass", "priorityClassName")):
        if row.get(column):
            spec[field] = row[column]
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": SCHEDULING, "kind": "PodGroup", "metadata": metadata, "spec": spec}


def _parents_first(queues: dict[str, Document]) -> list[Document]:
    ordered: dict[str, Document] = {}

    def add(name: str, seen: tuple[str, ...] = ()) -> None:
        if name in ordered or name not in queues or name in seen:
            return
        add(queues[name]["spec"].get("parent", ""), (*seen, name))
        ordered[name] = queues[name]

    for name in queues:
        add(name)
    return list(ordered.values())


def _rows(path: Path, needed: Sequence[str]) -> Iterator[tuple[int, Row]]:
    """Lines of a table with their number; names of columns are lower case."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), "", str(getattr(error, "strerror", None) or error)) from error
    reader = csv.DictReader(text.splitlines(), skipinitialspace=True)
    columns = {(name or "").strip().lower() for name in reader.fieldnames or ()}
    for name in needed:
        if name not in columns:
            found = f"there are: {', '.join(sorted(columns))}" if columns else "the file is empty"
            raise ConfigError(str(path), name, f"expected a column of this name; {found}")
    for number, raw in enumerate(reader, start=2):
        if None in raw:
            raise ConfigError(f"{path}:{number}", "", "more values than columns")
        row = {key.strip().lower(): (value or "").strip() for key, value in raw.items()}
        for name in needed:
            if not row[name]:
                raise ConfigError(f"{path}:{number}", name, "expected a value")
        yield number, row


def _name(path: Path, line: int, column: str, text: str) -> None:
    if faults := subdomain_faults(text):
        raise ConfigError(f"{path}:{line}", column, f"{text!r}: {faults[0]}")


def _whole(path: Path, line: int, column: str, text: str, least: int = 0) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise ConfigError(f"{path}:{line}", column, f"expected a whole number of at least {least}, got {text!r}")
    return int(text)


def _seconds(path: Path, line: int, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ConfigError(f"{path}:{line}", column, f"expected seconds, got {text!r}")
    return value


def _quantity(path: Path, line: int, column: str, text: str) -> None:
    try:
        Quantity.parse(text)
    except QuantityError as error:
        raise ConfigError(f"{path}:{line}", column, f"{text!r}: {error}") from error


def _pairs(path: Path, line: int, column: str, text: str) -> dict[str, str]:
    found = {}
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        key, separator, value = part.partition("=")
        if not separator:
            raise ConfigError(f"{path}:{line}", column, f"expected key=value, got {part!r}")
        found[key.strip()] = value.strip()
    return found
