"""One point of a sweep in this process: from the bundle to the numbers of its run.

Imports are inside the functions: a worker process sets its environment up before the first of them.
"""

import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seatrial.sweeps.scratch import make_scratch

if TYPE_CHECKING:
    from seatrial.model.documents import Document
    from seatrial.results import Run
    from seatrial.scenario import SimulationOptions
    from seatrial.sweeps.bundle import Bundle
    from seatrial.sweeps.points import Point

FAILED = "Failed"


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a run; `better` is higher, lower or empty."""

    value: float | None
    unit: str = ""
    better: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a point."""

    point: int
    phase: str
    message: str = ""
    numbers: dict[str, Number] = field(default_factory=dict)

    @property
    def has_failed(self) -> bool:
        return self.phase == FAILED


class Worker:
    """Runs points of one bundle; the files that its runs read are in a temporary folder until `close`."""

    def __init__(self, bundle: "Bundle") -> None:
        from seatrial.scheduler.plugins import load_plugins

        self._bundle = bundle
        self._folder, remove = make_scratch()
        root = self._folder
        self.close = weakref.finalize(self, remove)
        modules = []
        for place, (name, source) in enumerate(bundle.plugins.items()):
            file = root / f"plugins-{place}" / Path(name).name
            if source:
                file.parent.mkdir()
                file.write_bytes(source)
            modules.append(str(file) if source else name)
        self._plugins = load_plugins(modules)
        self._traces: dict[tuple[str, str], str] = {}
        for scenario, traces in bundle.traces.items():
            for path, content in traces.items():
                name = f"trace-{len(self._traces)}{Path(path).suffix}"
                (root / name).write_bytes(content)
                self._traces[scenario, path] = name

    def run(self, point: "Point") -> Outcome:
        """Run a point; input that cannot be used and a scenario that fails are outcomes as well."""
        from seatrial.model.errors import SeatrialError

        try:
            run = self._run(point)
        except SeatrialError as error:
            return Outcome(point.number, FAILED, str(error))
        return Outcome(point.number, run.phase, run.message, {} if run.phase == FAILED else _numbers(run))

    def keep(self, point: "Point", folder: Path) -> Path:
        """Play a point into a folder, with every attempt; the folder."""
        from dataclasses import replace

        from seatrial.simulation import make_folder, run_into

        scenario, options = self._input(point)
        make_folder(folder)
        run_into(folder, scenario, replace(options, level="full"), source=self._folder / "scenario.yaml")
        return folder

    def _run(self, point: "Point") -> "Run":
        from seatrial.results import Run
        from seatrial.simulation import Simulation

        simulation = Simulation(*self._input(point), folder=self._folder)
        simulation.play()
        run = simulation.scenario_run
        return Run("", b"".join(run.parts()), None, run.timeline.rows.table(), run.timeline.dictionary.document())

    def _input(self, point: "Point") -> "tuple[Document, SimulationOptions]":
        from seatrial.scenario import SimulationOptions
        from seatrial.scheduler.config import load_configuration
        from seatrial.scheduler.plugins import known_points

        scenario, config = self._bundle.documents(point.setting)
        options = SimulationOptions(
            level="summary",
            snapshot=self._bundle.snapshot.with_seed(point.seed),
            seed=point.seed,
            tie_break=self._bundle.spec.ties,
            scheduler_config=load_configuration(
                config, plugins=known_points(self._plugins), version=self._bundle.spec.version
            ),
            plugins=self._plugins,
        )
        return self._localised(scenario, point.setting.scenario), options

    def _localised(self, scenario: "Document", name: str) -> "Document":
        """The scenario with the paths of its traces in this process."""
        spec = dict(scenario.get("spec") or {})
        spec["generators"] = [self._with_trace(each, name) for each in spec.get("generators") or ()]
        return {**scenario, "spec": spec}

    def _with_trace(self, generator: dict[str, Any], scenario: str) -> dict[str, Any]:
        source = generator.get("from")
        if not source:
            return generator
        named = {key: self._traces.get((scenario, path), path) for key, path in source.items()}
        return {**generator, "from": named}


def _numbers(run: "Run") -> dict[str, Number]:
    from seatrial.results.comparison import compare

    return {number.name: Number(number.values[0], number.unit, number.better) for number in compare([run]).numbers}
