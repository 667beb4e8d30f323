"""Workloads for the scheduler as YAML: which nodes and pods come, and which pods are measured.

The operations and the shapes of nodes and pods are those of upstream's test/integration/scheduler_perf (v1.36.3).
"""

from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import msgspec

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError
from seatrial.model.yaml_reader import load_all


class Step(msgspec.Struct, rename="camel", forbid_unknown_fields=True, tag_field="opcode"):
    """One operation of a workload."""


class CreateNodes(Step, tag="createNodes"):
    """Nodes of one template; zones are dealt out in turn."""

    count: int
    template: str
    zones: tuple[str, ...] = ()


class CreateNamespaces(Step, tag="createNamespaces"):
    """Namespaces `<prefix>-0`, `<prefix>-1` and so on."""

    prefix: str
    count: int


class CreateAny(Step, tag="createAny"):
    """Any object."""

    object: Document


class CreatePods(Step, tag="createPods"):
    """Pods of one template. `measured` ones are scheduled at once against the stopwatch.

    `groups` deals out numbers in turn for `$group` in the template; with `per_virtual_second` that many pass in a
    second of virtual time, which otherwise does not pass.
    """

    count: int
    template: str
    namespace: str = "default"
    measured: bool = False
    groups: int = 1
    per_virtual_second: int = 0
    on_nodes: bool = False
    """whether they are bound already, to all nodes in turn"""


class Churn(Step, tag="churn"):
    """From now on a pod of a template comes whenever so much virtual time has passed."""

    template: str
    interval_milliseconds: int
    namespace: str = "default"


class Barrier(Step, tag="barrier"):
    """Waits until every pod that can be scheduled is."""


class Workload(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A named sequence of steps with the speed it must reach, in measured pods per CPU-second."""

    name: str
    must: float
    steps: tuple[CreateNodes | CreateNamespaces | CreateAny | CreatePods | Churn | Barrier, ...]
    goal: float | None = None

    def scaled(self, factor: float) -> "Workload":
        """The same with fewer (or more) nodes and pods."""
        steps = [
            msgspec.structs.replace(step, count=max(1, round(step.count * factor)))
            if isinstance(step, CreateNodes | CreatePods)
            else step
            for step in self.steps
        ]
        return msgspec.structs.replace(self, steps=tuple(steps))


def shipped_workloads(folder: str = "") -> list[Workload]:
    """The workloads of the package, in the order of their files."""
    return [read_workload(path.read_text(), path.name) for path in _yamls(_root() / folder if folder else _root())]


def read_workload(text: str, name: str) -> Workload:
    """A workload of one YAML document; ConfigError if it is not a workload."""
    documents = load_all(text)
    if len(documents) != 1:
        raise ConfigError(name, "", f"expected one workload, found {len(documents)}")
    try:
        return msgspec.convert(documents[0], Workload)
    except msgspec.ValidationError as error:
        raise ConfigError(name, "", str(error)) from None


def template(name: str) -> str:
    """The text of a template of the package."""
    return (_root() / "templates" / f"{name}.yaml").read_text()


def made_from(text: str, **values: Any) -> Document:
    """A document of a template with some `$name` filled in."""
    for name, value in values.items():
        text = text.replace(f"${name}", f'"{value}"')
    document: Document = load_all(text)[0]
    return document


def _root() -> Traversable:
    return files("seatrial.bench") / "workloads"


def _yamls(folder: Traversable) -> Sequence[Traversable]:
    return sorted((path for path in folder.iterdir() if path.name.endswith(".yaml")), key=lambda path: path.name)
