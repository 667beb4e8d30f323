"""The load of a test: which objects are created, in which order, and how many pods they stand for."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError, SeatrialError
from seatrial.model.yaml_reader import load_all
from seatrial.scenario.spec import undecodable
from seatrial.vcsim.kinds import SimulatorJob
from seatrial.volcano.apis import BATCH

LABEL: Final = "vcsim.volcano.sh/test"
"""On the namespaces of a test: they are deleted when the next test begins."""
_COUNTED: Final = {
    ("apps/v1", "Deployment"),
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "StatefulSet"),
    ("v1", "ReplicationController"),
    ("batch/v1", "Job"),
    (BATCH, "Job"),
}

DAEMON_SET: Final = ("apps/v1", "DaemonSet")
"""How many pods it leads to is known from the status that its controller writes: one for each node that it is for."""

Scope = Callable[[str, str], bool]
"""Whether a kind (apiVersion, kind) is namespaced; raises ConfigError where it is not served."""


@dataclass(frozen=True, slots=True)
class LoadObject:
    """A document of an object file."""

    path: Path
    document: Document
    namespaced: bool
    pods: int
    """How many pods one copy leads to; 0 for a DaemonSet."""

    @property
    def is_daemon_set(self) -> bool:
        return (self.document["apiVersion"], self.document["kind"]) == DAEMON_SET


class _DaemonSetStatus(msgspec.Struct, rename="camel"):
    desired_number_scheduled: int = 0
    observed_generation: int = 0


class DaemonSet(msgspec.Struct):
    """How many pods a DaemonSet leads to, and whether its controller has said so."""

    status: _DaemonSetStatus = msgspec.field(default_factory=_DaemonSetStatus)


class _Task(msgspec.Struct):
    replicas: int | None = None


class _Counts(msgspec.Struct):
    """The fields of a workload's spec that say how many pods it makes."""

    replicas: int | None = None
    parallelism: int | None = None
    completions: int | None = None
    tasks: list[_Task] | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """All that a test creates."""

    test: str
    namespaces: tuple[str, ...]
    replicas: int
    objects: tuple[LoadObject, ...]

    @property
    def prepared(self) -> list[Document]:
        """Objects without a namespace: they are created once, before the test begins."""
        return [item.document for item in self.objects if not item.namespaced]

    @property
    def submitted(self) -> int:
        """How many pods all copies lead to, without those of DaemonSets."""
        return len(self.namespaces) * self.replicas * sum(item.pods for item in self.objects if item.namespaced)

    @property
    def has_daemon_sets(self) -> bool:
        return any(item.is_daemon_set for item in self.objects)

    def copies(self) -> Iterator[tuple[LoadObject, Document]]:
        """The objects to create, in order: every namespace gets its first copy before any gets its second."""
        for number in range(self.replicas):
            for namespace in self.namespaces:
                for item in self.objects:
                    if item.namespaced:
                        yield item, _copy(item.document, namespace, number)

    def namespace_documents(self) -> list[Document]:
        """The namespaces of the test."""
        return [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {LABEL: self.test}}}
            for name in self.namespaces
        ]


def read_load(job: SimulatorJob, test: Path, is_namespaced: Scope) -> Load:
    """The load of a test file; ConfigError names the object file or the field that cannot be used."""
    objects: list[LoadObject] = []
    for number, item in enumerate(job.spec.objects):
        path = test.parent / item.object_path
        field = f"spec.objects[{number}].objectPath"
        if not path.is_file():
            raise ConfigError(str(test), field, f"{path} does not exist")
        objects += [
            LoadObject(path, found, _scope(found, path, is_namespaced), _pods(found, f"document {place}", path))
            for place, found in enumerate(_documents(path), 1)
        ]
    names = tuple(f"{job.metadata.name}-{number}" for number in range(job.spec.namespaces))
    return Load(job.metadata.name, names, job.spec.replicas_per_namespace, tuple(objects))


def _pods(document: Document, where: str, path: Path) -> int:
    """How many pods an object leads to at first; objects of other kinds lead to none."""
    kind = document["apiVersion"], document["kind"]
    if kind == ("v1", "Pod"):
        return 1
    if kind not in _COUNTED:
        return 0
    try:
        counts = msgspec.convert(document.get("spec") or {}, _Counts)
    except msgspec.ValidationError as error:
        wrong = undecodable(str(error))
        raise ConfigError(str(path), f"{where}: {'.'.join(filter(None, ('spec', wrong.field)))}", wrong.why) from error
    if kind == (BATCH, "Job"):
        return sum(task.replicas or 0 for task in counts.tasks or ())
    if kind == ("batch/v1", "Job"):
        parallel = _or_one(counts.parallelism)
        return parallel if counts.completions is None else min(parallel, counts.completions)
    return _or_one(counts.replicas)


def _or_one(count: int | None) -> int:
    return 1 if count is None else count


def _documents(path: Path) -> list[Document]:
    try:
        found = load_all(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(str(path), "", error.strerror or str(error)) from error
    except (SeatrialError, ValueError) as error:
        raise ConfigError(str(path), "", str(error)) from error
    if not found:
        raise ConfigError(str(path), "", "expected an object, the file is empty")
    for number, document in enumerate(found):
        where = f"document {number + 1}"
        if not isinstance(document, dict):
            raise ConfigError(str(path), where, f"expected an object, got {type(document).__name__}")
        for field in ("apiVersion", "kind", "metadata"):
            if not document.get(field):
                raise ConfigError(str(path), f"{where}: {field}", "expected a value")
        if not isinstance(document["metadata"], dict):
            raise ConfigError(str(path), f"{where}: metadata", "expected an object")
    return found


def _scope(document: Document, path: Path, is_namespaced: Scope) -> bool:
    try:
        return is_namespaced(document["apiVersion"], document["kind"])
    except ConfigError as error:
        if error.path:
            raise
        raise ConfigError(str(path), error.field, error.why) from error


def _copy(document: Document, namespace: str, number: int) -> Document:
    found = copy.copy(document)
    metadata = dict(found["metadata"], namespace=namespace)
    if metadata.get("name"):
        metadata["name"] = f"{metadata['name']}-{number}"
    found["metadata"] = metadata
    return found
