"""Everything the points of a sweep need, read once and sent to each process once.

A process on another machine has none of the files, so their content is in the bundle: scenarios, the traces that their
generators read, scheduler configurations and plugins.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from seatrial import __version__
from seatrial.model.documents import Document, encode
from seatrial.model.errors import ConfigError, SeatrialError
from seatrial.model.yaml_reader import load
from seatrial.scenario import simulated_version
from seatrial.scenario.spec import decode_scenario, read_scenario, scenario_alone, with_volcano
from seatrial.scheduler.config import load_configuration, read_configuration
from seatrial.scheduler.plugins import known_points, load_plugins
from seatrial.scheduler.versions import DEFAULT as VERSION
from seatrial.scheduler.versions import Version
from seatrial.store.snapshots import Snapshot, read_prices
from seatrial.sweeps.field_path import assigned
from seatrial.sweeps.points import Point, Setting
from seatrial.sweeps.spec import DEFAULT, Axis, SweepSpec, read_sweep

NO_PROFILES: Document = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
ChooseVersion = Callable[[str, Snapshot], str]
PROFILES = [{"schedulerName": "default-scheduler"}]
"""What upstream's defaults make of a configuration without profiles."""


@dataclass(frozen=True)
class Bundle:
    """The content of a sweep's files by the names that the sweep uses."""

    spec: SweepSpec
    scenarios: dict[str, Document]
    configs: dict[str, Document]
    traces: dict[str, dict[str, bytes]]
    """Files that generators read, by scenario and by the path that is written there."""
    plugins: dict[str, bytes]
    """The source of each .py file; empty for a module that is imported by name."""
    snapshot: Snapshot

    def documents(self, setting: Setting) -> tuple[Document, Document]:
        """The scenario and the scheduler's configuration of a point; ConfigError where a value does not fit."""
        scenario: Any = self.scenarios[setting.scenario]
        config: Any = self.configs[setting.config]
        for axis, value in zip(self.spec.axes, setting.values, strict=True):
            try:
                if axis.scenario:
                    scenario = assigned(scenario, axis.path, value)
                else:
                    config = assigned(config, axis.path, value)
            except ValueError as error:
                source = setting.scenario if axis.scenario else setting.config
                raise ConfigError(source, axis.scenario or axis.config, f"axis {axis.name}: {error}") from error
        decode_scenario(scenario)
        return scenario, config

    def digest(self, point: Point) -> str:
        """Names what decides the result of a point: equal digests, equal results."""
        setting = point.setting
        fields = [
            [bool(axis.scenario), axis.scenario or axis.config, value]
            for axis, value in zip(self.spec.axes, setting.values, strict=True)
        ]
        files = [self._digests[0][setting.scenario], self._digests[1][setting.config], self._digests[2]]
        version = [] if self.spec.version is VERSION else [self.spec.version.release]
        return sha256(encode([__version__, files, self.spec.ties, point.seed, fields, *version])).hexdigest()

    @cached_property
    def _digests(self) -> tuple[dict[str, str], dict[str, str], str]:
        scenarios = {
            name: _digest(encode(document), *_flat(self.traces[name])) for name, document in self.scenarios.items()
        }
        configs = {name: _digest(encode(document)) for name, document in self.configs.items()}
        return scenarios, configs, _digest(*_flat(self.plugins), *map(encode, self.snapshot))


def read_bundle(path: Path, choose: "ChooseVersion | None" = None) -> Bundle:
    """Read a sweep and all files it names, and check them; ConfigError where one cannot be used.

    `choose` has the last word on the version of kube-scheduler: it is called with that of the file and the snapshot.
    """
    spec, folder = read_sweep(path), path.parent
    classes = load_plugins([str(folder / name) if name.endswith(".py") else name for name in spec.plugins])
    snapshot = _read_snapshot(folder, spec)
    named = spec.kubernetes_version
    version = choose(named, snapshot) if choose is not None else simulated_version(named, snapshot)[0]
    spec = msgspec.structs.replace(spec, kubernetes_version=version)
    if not spec.scenarios:
        spec = msgspec.structs.replace(spec, scenarios=[spec.snapshot])
        scenarios = {spec.snapshot: scenario_alone("snapshot", snapshot)}
    else:
        scenarios = {name: read_scenario(folder / name) for name in spec.scenarios}
    if spec.volcano:
        scenarios = {name: with_volcano(document) for name, document in scenarios.items()}
    configs = {name: _read_config(folder, name, classes, spec.version) for name in spec.scheduler_configs}
    traces = {
        name: {trace: _read(folder / Path(name).parent / trace) for trace in _traces(document, spec.axes)}
        for name, document in scenarios.items()
    }
    plugins = {name: _read(folder / name) if name.endswith(".py") else b"" for name in spec.plugins}
    bundle = Bundle(spec, scenarios, configs, traces, plugins, snapshot)
    _check_axes(bundle)
    return bundle


def _read_snapshot(folder: Path, spec: SweepSpec) -> Snapshot:
    if not spec.snapshot:
        return Snapshot()
    found = Snapshot.read(folder / spec.snapshot, spec.unbind, spec.unbind_order)
    return found.with_prices(read_prices(folder / spec.prices)) if spec.prices else found


def _check_axes(bundle: Bundle) -> None:
    """Try the first value of every axis in every file."""
    firsts = tuple(axis.values[0] if axis.range is None else axis.range.start for axis in bundle.spec.axes)
    for scenario in bundle.scenarios:
        for config in bundle.configs:
            bundle.documents(Setting(scenario, config, firsts))


def _read_config(folder: Path, name: str, plugins: list[type[Any]], version: Version) -> Document:
    if name == DEFAULT:
        return {**NO_PROFILES, "profiles": PROFILES}
    text = read_configuration(folder / name)
    try:
        load_configuration(text, plugins=known_points(plugins), version=version)
        document: Document = load(text)
    except SeatrialError as error:
        raise ConfigError(str(folder / name), "", str(error)) from error
    return document if document.get("profiles") else {**document, "profiles": PROFILES}


def _traces(document: Document, axes: list[Axis]) -> Iterator[str]:
    """The paths of the files that generators read, those that an axis puts there included."""
    for generator in (document.get("spec") or {}).get("generators") or ():
        source = generator.get("from") or {}
        yield from filter(None, (source.get("file"), source.get("csv")))
    for axis in axes:
        if axis.scenario.endswith((".from.csv", ".from.file")):
            yield from map(str, axis.values)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(str(path), "", f"cannot be read: {error.strerror or error}") from error


def _flat(files: dict[str, bytes]) -> Iterator[bytes]:
    for name, content in files.items():
        yield name.encode()
        yield content


def _digest(*contents: bytes) -> str:
    whole = sha256()
    for content in contents:
        whole.update(sha256(content).digest())
    return whole.hexdigest()
