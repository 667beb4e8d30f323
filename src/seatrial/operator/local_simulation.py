"""SchedulerSimulations without a cluster: the same objects, with directories of this machine for their volumes.

An object is checked by a store with the CustomResourceDefinitions, so it gets the defaults and the errors that it would
get from an API server.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError, SeatrialError
from seatrial.model.yaml_reader import load_all
from seatrial.operator.kinds import COMPLETED, FAILED, SchedulerSimulation, definitions
from seatrial.operator.pods import MOUNT
from seatrial.scenario import fresh_store
from seatrial.scenario.spec.kind import API_VERSION
from seatrial.store import Store
from seatrial.store.options import CreateOptions

WRITER = "seatrial"
NAMESPACE = "default"
"""Where all are checked: only their names distinguish results."""
LOCAL_VOLUMES = ("hostPath", "emptyDir")
"""Volumes that need no cluster."""


@dataclass(frozen=True, slots=True)
class LocalSimulation:
    """A SchedulerSimulation, and where its files are on this machine."""

    document: Document
    source: Path
    """The file of the object."""

    @property
    def name(self) -> str:
        return str(self.document["metadata"]["name"])

    @property
    def template(self) -> Path:
        return self._local(self.document["spec"]["scenarioTemplateFilePath"])

    @property
    def result(self) -> Path:
        return self._local(self.document["spec"]["scenarioResultFilePath"])

    @property
    def configuration(self) -> Path | None:
        """The scheduler's configuration; None for the default one."""
        path = self._simulator.get("kubeSchedulerConfigurationPath")
        return self._local(path) if path else None

    @property
    def plugins(self) -> list[str]:
        """Files with scheduler plugins."""
        return [str(self._local(path)) for path in self._simulator.get("schedulerPluginPaths") or ()]

    @property
    def outside(self) -> list[str]:
        """The scheduler that replaces the embedded one, as --outside names it."""
        words = self._simulator.get("outsideScheduler") or ()
        named = [word.rpartition("=") for word in words]  # --config=/mnt/scheduler.yaml
        here = [f"{flag}{sign}{self._local(path) if _is_mounted(path) else path}" for flag, sign, path in named]
        return [f"scheduler={shlex.join(here)}"] if here else []

    @property
    def _simulator(self) -> Document:
        spec: Document = self.document["spec"]["simulatorSpec"]
        return spec

    def ended(self, started: str, now: str, failure: str) -> Document:
        """The object with its status at the end; an empty failure means success."""
        status = {"phase": FAILED if failure else COMPLETED, "startTime": started}
        if failure:
            status["message"] = failure
        else:
            status |= {"completionTime": now, "message": f"the result is in {self.result}"}
        return {**self.document, "status": status}

    def _local(self, path: str) -> Path:
        """A path of the container scenario-runner on this machine; relative ones start at the object's file."""
        host = (self.document["spec"].get("volume") or {}).get("hostPath")
        if host and _is_mounted(path):
            path = str(PurePosixPath(host["path"]) / PurePosixPath(path).relative_to(MOUNT))
        return self.source.parent / path


def _is_mounted(path: str) -> bool:
    return PurePosixPath(path).is_relative_to(MOUNT)


def read_simulations(path: Path) -> list[LocalSimulation]:
    """The SchedulerSimulations of a file; ConfigError where one cannot be used here."""
    try:
        documents = load_all(path.read_bytes())
    except OSError as error:
        raise ConfigError(str(path), "", error.strerror or str(error)) from error
    except (SeatrialError, yaml.YAMLError, ValueError) as error:
        raise ConfigError(str(path), "", " ".join(str(error).split())) from error
    if not documents:
        raise ConfigError(str(path), "", "expected a SchedulerSimulation, found no document")
    store = _store()
    return [LocalSimulation(_checked(store, document, path), path) for document in documents]


def _store() -> Store:
    store = fresh_store()
    definition_kind = store.kinds.served("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    for definition in definitions():
        store.create(definition_kind, definition, writer=WRITER)
    return store


def _checked(store: Store, document: Any, path: Path) -> Document:
    if not isinstance(document, dict):
        raise ConfigError(str(path), "", f"expected a SchedulerSimulation, got {type(document).__name__}")
    for field, expected in (("apiVersion", API_VERSION), ("kind", "SchedulerSimulation")):
        if (found := document.get(field)) != expected:
            cure = "; a Scenario goes with `seatrial run` or `compare --scenario`" if found == "Scenario" else ""
            raise ConfigError(str(path), field, f"expected {expected}, got {found!r}{cure}")
    metadata = document.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        raise ConfigError(str(path), "metadata.name", "expected the name of the SchedulerSimulation")
    given = {key: value for key, value in document.items() if key != "status"}
    try:
        stored = store.create(
            SchedulerSimulation.record,
            {**given, "metadata": {**metadata, "namespace": NAMESPACE}},
            writer=WRITER,
            namespace=NAMESPACE,
            options=CreateOptions(field_validation="Strict"),
        )
    except SeatrialError as error:
        raise ConfigError(str(path), "", str(error)) from error
    spec = stored.document()["spec"]
    others = [key for key in spec.get("volume") or {} if key not in ("name", *LOCAL_VOLUMES)]
    if others:
        why = f"{others[0]} needs a cluster; expected hostPath"
        raise ConfigError(str(path), f"spec.volume.{others[0]}", why)
    return {**given, "spec": spec}
