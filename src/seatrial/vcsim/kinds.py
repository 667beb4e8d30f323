"""The two files that users write: SimulatorCluster and SimulatorJob.

They are read with the names of the seed's Go types; an error names the file, the line and the field.
"""

from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import msgspec

from seatrial.model.errors import ConfigError, SeatrialError
from seatrial.model.kind_declaration import Part
from seatrial.model.quantity import Quantity, QuantityError
from seatrial.model.yaml_reader import load_all
from seatrial.scenario.spec import line_of, undecodable
from seatrial.scenario.spec.kind import ObjectMeta
from seatrial.store import label_faults

API_VERSION: Final = "scheduling.volcano.sh/v1beta1"
LONGEST_PREFIX: Final = 52
"""A node's name is also its hostname label, of at most 63 characters."""

Resources = dict[str, str | int | float]
MOST: Final = 1_000_000
"""Nodes of a group, or objects of a test: each takes some 30 KB, so that a larger number is a mistake."""
Count = Annotated[int, msgspec.Meta(ge=1, le=MOST)]
Positive = Annotated[float, msgspec.Meta(gt=0)]


class NodeSpec(Part, kw_only=True):
    """A group of equal nodes; without `allocatable` all of the capacity is."""

    name: str
    count: Count
    capacity: Resources
    allocatable: Resources | None = None


class SimulatorClusterSpec(Part, kw_only=True):
    nodes: list[NodeSpec]


class SimulatorCluster(Part, kw_only=True):
    """A cluster to simulate."""

    api_version: str
    kind: str
    metadata: ObjectMeta
    spec: SimulatorClusterSpec

    @classmethod
    def read(cls, path: Path) -> "SimulatorCluster":
        """The cluster of a file; ConfigError says what is wrong with it."""
        found = _read(path, SimulatorCluster)
        for number, group in enumerate(found.spec.nodes):
            _check_name(path, f"spec.nodes[{number}].name", group.name, LONGEST_PREFIX)
            for field, amounts in (("capacity", group.capacity), ("allocatable", group.allocatable or {})):
                for name, amount in amounts.items():
                    _check_quantity(path, f"spec.nodes[{number}].{field}.{name}", amount)
            for name, amount in (group.allocatable or {}).items():
                if Quantity.parse(amount) > Quantity.parse(group.capacity.get(name, 0)):
                    why = f"{amount} is more than the capacity of {group.capacity.get(name, 0)}"
                    raise ConfigError(str(path), f"spec.nodes[{number}].allocatable.{name}", why)
        return found


class TimingConfig(Part, kw_only=True):
    qps: Positive
    duration: Positive


class ObjectRef(Part, kw_only=True):
    name: str
    object_path: str


class SimulatorJobSpec(Part, kw_only=True):
    namespaces: Count
    replicas_per_namespace: Count
    timing: TimingConfig
    objects: Annotated[list[ObjectRef], msgspec.Meta(min_length=1)]


class SimulatorJob(Part, kw_only=True):
    """A throughput test."""

    api_version: str
    kind: str
    metadata: ObjectMeta
    spec: SimulatorJobSpec

    @classmethod
    def read(cls, path: Path) -> "SimulatorJob":
        """The test of a file; ConfigError says what is wrong with it."""
        found = _read(path, SimulatorJob)
        made = found.spec.namespaces * found.spec.replicas_per_namespace * len(found.spec.objects)
        if made > MOST:
            raise ConfigError(str(path), "spec.replicasPerNamespace", f"{made:,} objects are more than {MOST:,}")
        seen: set[str] = set()
        for number, item in enumerate(found.spec.objects):
            if not item.name or item.name in seen:
                why = f"{item.name!r} is used twice" if item.name else "expected a name"
                raise ConfigError(str(path), f"spec.objects[{number}].name", why)
            seen.add(item.name)
        return found


K = TypeVar("K", SimulatorCluster, SimulatorJob)


def _read(path: Path, kind: type[K]) -> K:
    try:
        text = path.read_text(encoding="utf-8")
        documents = [document for document in load_all(text) if document is not None]
    except OSError as error:
        raise ConfigError(str(path), "", error.strerror or str(error)) from error
    except (SeatrialError, ValueError) as error:
        raise ConfigError(str(path), "", str(error)) from error
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise ConfigError(str(path), "", f"expected one {kind.__name__}, got {len(documents)} documents")
    document: dict[str, Any] = documents[0]
    for field, wanted in (("apiVersion", API_VERSION), ("kind", kind.__name__)):
        if document.get(field) != wanted:
            raise ConfigError(_where(path, text, field), field, f"expected {wanted}, got {document.get(field)!r}")
    try:
        found = msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        wrong = undecodable(str(error))
        raise ConfigError(_where(path, text, wrong.field), wrong.field, wrong.why) from error
    _check_name(path, "metadata.name", found.metadata.name, 63)
    return found


def _where(path: Path, text: str, field: str) -> str:
    line = line_of(text, field)
    return f"{path}:{line}" if line else str(path)


def _check_name(path: Path, field: str, name: str, most: int) -> None:
    if not name:
        raise ConfigError(str(path), field, "expected a name")
    if faults := label_faults(name):
        raise ConfigError(str(path), field, f"{name!r}: {faults[0]}")
    if len(name) > most:
        raise ConfigError(str(path), field, f"{name!r} is longer than {most} characters")


def _check_quantity(path: Path, field: str, amount: str | int | float) -> None:
    try:
        quantity = Quantity.parse(amount)
    except QuantityError as error:
        raise ConfigError(str(path), field, f"{amount!r}: {error}") from error
    if quantity.sign < 0:
        raise ConfigError(str(path), field, f"{amount!r}: expected no negative amount")
