"""Finds the nodes and workloads of a snapshot that a question is about; ConfigError names the cure."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest, ConfigError
from seatrial.model.label_selectors import LabelSelector
from seatrial.results import pool_of
from seatrial.words import counted

SCALED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
SHOWN = 8


@dataclass(frozen=True, slots=True)
class NodeChoice:
    """How a command names nodes: by name, by labels, or by pool."""

    names: Sequence[str] = ()
    selector: str = ""
    pool: str = ""
    pool_label: str = ""

    def __str__(self) -> str:
        if self.pool:
            return f"pool {self.pool}"
        return self.selector or ", ".join(self.names)


def nodes_in(snapshot: Sequence[Document], path: str) -> list[Document]:
    """The nodes of a snapshot, which has some."""
    nodes = [document for document in snapshot if document["kind"] == "Node" and document["apiVersion"] == "v1"]
    if not nodes:
        why = "has no nodes: dump them, too (`kubectl get nodes,pods,… -A -o yaml`; `seatrial snapshot --help`)"
        raise ConfigError(path, "", why)
    return nodes


def find_nodes(nodes: Sequence[Document], choice: NodeChoice) -> list[Document]:
    """The nodes that are meant, in the order of the snapshot; those by name in the order of the names."""
    given = [bool(choice.names), bool(choice.selector), bool(choice.pool)]
    if sum(given) != 1:
        raise ConfigError("", "NODE", "expected either names of nodes, -l SELECTOR, or --pool POOL")
    if choice.names:
        return _by_name(nodes, choice.names)
    if choice.pool:
        return _by_pool(nodes, choice)
    try:
        selector = LabelSelector.parse(choice.selector)
    except BadRequest as error:
        raise ConfigError("", "-l", f"{choice.selector!r} is no label selector: {error}") from error
    found = [node for node in nodes if selector.matches(_labels(node))]
    if not found:
        keys = sorted({requirement.key for requirement in selector.requirements})
        values = {key: sorted({_labels(node)[key] for node in nodes if key in _labels(node)}) for key in keys}
        there = "; ".join(f"{key} is one of {_listed(found)}" for key, found in values.items() if found)
        cure = there or f"no node has the label {', '.join(keys)}"
        raise ConfigError("", "-l", f"{choice.selector} matches none of {counted(len(nodes), 'node')}: {cure}")
    return found


def _by_name(nodes: Sequence[Document], names: Sequence[str]) -> list[Document]:
    known = {node["metadata"]["name"]: node for node in nodes}
    for name in names:
        if name not in known:
            near = sorted(get_close_matches(name, known, 3))
            cure = f"did you mean {', '.join(near)}?" if near else f"there are {_listed(sorted(known))}"
            raise ConfigError("", "NODE", f"{name} is not in the snapshot: {cure}")
    return [known[name] for name in dict.fromkeys(names)]


def _by_pool(nodes: Sequence[Document], choice: NodeChoice) -> list[Document]:
    pools = [(pool_of(_labels(node), choice.pool_label), node) for node in nodes]
    found = [node for pool, node in pools if pool == choice.pool]
    if not found:
        known = sorted({pool for pool, _ in pools if pool})
        cure = f"there are {_listed(known)}" if known else "no node has a label of a pool: name it with --pool-label"
        raise ConfigError("", "--pool", f"{choice.pool} is no pool of the snapshot: {cure}")
    return found


def find_workload(snapshot: Sequence[Document], named: str, namespace: str) -> Document:
    """The workload `kind/name` of a namespace."""
    kind, _, name = named.partition("/")
    workloads = [document for document in snapshot if document["kind"] in SCALED]
    known = {f"{each['kind'].lower()}/{each['metadata']['name']}": each for each in workloads
             if each["metadata"].get("namespace", "default") == namespace}  # fmt: skip
    asked = f"{kind.lower().removesuffix('.apps').removesuffix('s')}/{name}"
    if asked not in known:
        others = sorted({each["metadata"].get("namespace", "default") for each in workloads
                         if each["metadata"]["name"] == name})  # fmt: skip
        near = get_close_matches(asked, known, 1)
        cure = f"it is in namespace {', '.join(others)} (-n)" if others else "write deployment/NAME or statefulset/NAME"
        cure = f"did you mean {', '.join(near)}?" if near else cure
        raise ConfigError("", "WORKLOAD", f"{named} is not in namespace {namespace} of the snapshot: {cure}")
    return known[asked]


def _labels(node: Document) -> dict[str, str]:
    labels: dict[str, str] = node["metadata"].get("labels") or {}
    return labels


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
