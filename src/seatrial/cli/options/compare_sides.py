"""The sides of a comparison: finished runs, SchedulerSimulations, and one scenario with several schedulers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from seatrial.cli.options.scheduler import chosen_version
from seatrial.control_plane import load_or_refuse
from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from seatrial.model.documents import Document
    from seatrial.operator import LocalSimulation
    from seatrial.results import Run
    from seatrial.scenario import TieBreak
    from seatrial.simulation import Programs
    from seatrial.store.snapshots import Snapshot
    from seatrial.timeline import Level

    Scenario = Path | Document
    """A file, or a document."""
    Play = Callable[[int, "Tries"], Run]
    """Runs a scenario with a seed."""

DEFAULT = "default"
DOCUMENTS = (".yaml", ".yml")
"""Files that are SchedulerSimulations; those of runs are folders or JSON."""


@dataclass(frozen=True, slots=True)
class Tries:
    """How often each side runs, and how its scheduler settles equal scores."""

    seeds: int = 1

    @property
    def ties(self) -> "TieBreak":
        return "upstream" if self.seeds == 1 else "random"

    def level(self, seed: int) -> "Level":
        """The first run explains differences, for which it needs every score."""
        return "full" if seed == 0 else "summary"


@dataclass(frozen=True, slots=True)
class Side:
    """One side: its name, and what runs it with a seed (None for a run that is finished)."""

    name: str
    play: "Play | None" = None
    finished: "Run | None" = None

    def runs(self, tries: Tries) -> "list[Run]":
        """One run for each seed; exit 1 where one ends Failed."""
        if self.finished is not None:
            return [self.finished] * tries.seeds
        assert self.play is not None
        found = []
        for seed in range(tries.seeds):
            typer.echo(f"running {self.name}{f', seed {seed}' if tries.seeds > 1 else ''} …", err=True)
            run = self.play(seed, tries)
            run.name = self.name
            if run.phase == "Failed":
                typer.secho(f"seatrial: {self.name}: Failed: {run.message}", err=True, fg="red")
                raise typer.Exit(1)
            found.append(run)
        return found


@dataclass(frozen=True, slots=True)
class Schedulers:
    """The schedulers of a comparison, as the options name them."""

    configs: Sequence[str] = ()
    volcano: Sequence[Path] = ()
    outside: "Sequence[Programs]" = ()
    gates: str = ""
    plugins: Sequence[str] = ()
    versions: Sequence[str] = ()
    """Minor versions of kube-scheduler: each configuration, or the default one, is a side with each of them."""

    def __len__(self) -> int:
        configs = len(self.configs or self.versions[:1]) * max(len(self.versions), 1)
        return configs + len(self.volcano) + len(self.outside)

    def sides(self, scenario: "Scenario", snapshot: "Snapshot", least: int = 2) -> list[Side]:
        """A side for each; every file is read here, since the first run may take long."""
        from seatrial.scheduler.plugins import load_plugins

        if len(self) < least:
            options = "--scheduler-config, --kubernetes-version, --volcano-config and --outside"
            why = f"give two or more of {options}: one for each run to compare"
            raise ConfigError("", "--scheduler-config", why)
        classes = load_plugins(self.plugins)
        document = _read(scenario)
        configs = self.configs or ([DEFAULT] if self.versions else [])
        names = [config if config == DEFAULT else Path(config).stem for config in configs]
        if len(set(names)) < len(names):
            names = list(configs)
        versions = _different(self.versions or [""], snapshot) if configs else []
        sides = []
        for (name, config), version in product(zip(names, configs, strict=True), versions):
            loaded = load_or_refuse(None if config == DEFAULT else Path(config), classes, self.gates, version)
            play = _played(scenario, snapshot, scheduler_config=loaded, plugins=classes)
            sides.append(Side(self._name(name, version), play))
        sides += _volcano_sides(scenario, document, self.volcano, classes, snapshot)
        return [*sides, *_outside_sides(scenario, self.outside, snapshot)]

    def _name(self, config: str, version: str) -> str:
        if not self.versions:
            return config
        return f"v{version}" if len(self.configs) <= 1 else f"{config} v{version}"


def is_simulation(path: Path) -> bool:
    """Whether a path is a file with SchedulerSimulations rather than a finished run."""
    return path.suffix in DOCUMENTS and not path.is_dir()


def given_sides(paths: Sequence[Path], gates: str, plugins: Sequence[str], versions: Sequence[str]) -> list[Side]:
    """The sides of runs and of files with SchedulerSimulations, in their order."""
    from seatrial.scheduler.plugins import load_plugins

    classes = load_plugins(plugins)
    sides = list(_given(paths, gates, classes, _different(versions)))
    if len(sides) < 2:
        why = "two or more runs are needed, or SchedulerSimulations, or --scenario with two --scheduler-config"
        raise ConfigError("", "RUN", why)
    return sides


def _different(named: Sequence[str], snapshot: "Snapshot | None" = None) -> list[str]:
    """The minor versions that several options name, each one once."""
    versions = [chosen_version(text, snapshot) for text in named]
    if len(set(versions)) < len(versions):
        raise ConfigError("", "--kubernetes-version", f"expected different minor versions, got {', '.join(named)}")
    return versions


def _given(paths: Sequence[Path], gates: str, classes: Sequence[type[Any]], versions: Sequence[str]) -> Iterator[Side]:
    from seatrial.operator import read_simulations
    from seatrial.results import Run

    names: dict[str, int] = {}
    for path in paths:
        if is_simulation(path):
            for simulation, version in product(read_simulations(path), versions):
                play = _simulated(simulation, gates, classes, version)
                suffix = f" v{version}" if len(versions) > 1 else ""
                yield Side(_unused(f"{simulation.name}{suffix}", f"{path}{suffix}", names), play)
        else:
            run = Run.load(path)
            run.name = _unused(run.name, str(path), names)
            yield Side(run.name, finished=run)


def _unused(name: str, longer: str, used: dict[str, int]) -> str:
    """The name, or one that no other side has."""
    if name in used:
        name = longer
    used[name] = used.get(name, 0) + 1
    return name if used[name] == 1 else f"{name} {used[name]}"


def _simulated(simulation: "LocalSimulation", gates: str, classes: Sequence[type[Any]], version: str) -> "Play":
    """What runs the scenario of a SchedulerSimulation; its result file is not written."""
    from seatrial.scenario.spec import read_scenario

    read_scenario(simulation.template)
    loaded = load_or_refuse(simulation.configuration, classes, gates, version)
    return _played(simulation.template, scheduler_config=loaded, plugins=classes)


def _volcano_sides(
    scenario: "Scenario",
    document: "Document",
    files: Sequence[Path],
    classes: Sequence[type[Any]],
    snapshot: "Snapshot",
) -> Iterator[Side]:
    from seatrial.scenario.engine import REGISTRY
    from seatrial.scenario.spec import dialect_of
    from seatrial.scenario.spec.kind import Controllers
    from seatrial.volcano.config import read_conf

    if files and not REGISTRY.uses_volcano(Controllers.of(document), dialect_of(document.get("spec") or {})):
        name = scenario if isinstance(scenario, Path) else document["metadata"]["name"]
        why = f"{name} does not name the controller volcano, so its configuration changes nothing"
        raise ConfigError("", "--volcano-config", why)
    names: dict[str, int] = {}
    for file in files:
        play = _played(scenario, snapshot, plugins=classes, volcano_config=read_conf(file))
        yield Side(_unused(file.stem, str(file), names), play)


def _outside_sides(scenario: "Scenario", outside: "Sequence[Programs]", snapshot: "Snapshot") -> Iterator[Side]:
    names: dict[str, int] = {}
    for programs in outside:
        first = programs.controllers[0]
        name = Path((first.command or (first.name,))[0]).name
        yield Side(_unused(name, name, names), _played(scenario, snapshot, programs))


def _played(
    scenario: "Scenario",
    snapshot: "Snapshot | None" = None,
    programs: "Programs | None" = None,
    **schedulers: Any,
) -> "Play":
    """What runs a scenario with these schedulers; programs outside this process settle equal scores as they do."""

    def play(seed: int, tries: Tries) -> "Run":
        from seatrial.api import run_of
        from seatrial.scenario import SimulationOptions
        from seatrial.simulation import NO_PROGRAMS, Simulation

        cluster = snapshot.with_seed(seed) if snapshot is not None else ()
        options = SimulationOptions(
            level=tries.level(seed), snapshot=cluster, seed=seed, tie_break=tries.ties, **schedulers
        )
        folder = scenario.parent if isinstance(scenario, Path) else Path()
        simulation = Simulation(_read(scenario), options, folder=folder, programs=programs or NO_PROGRAMS)
        simulation.play()
        return run_of(simulation)

    return play


def _read(scenario: "Scenario") -> "Document":
    from seatrial.scenario.spec import read_scenario

    return read_scenario(scenario) if isinstance(scenario, Path) else scenario
