"""The Python API: `seatrial.run`, `Result` and `Cluster`.

```python
result = seatrial.run("scenario.yaml")
print(result.explain("web-1"))
result.pods.filter(pl.col("node").is_null())
```
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from seatrial.model.documents import Document, encode
from seatrial.model.errors import ConfigError
from seatrial.results import Explanation, Result, Run, explain
from seatrial.scenario import SimulationOptions, TieBreak
from seatrial.scenario.spec import decode_scenario, read_scenario, respell
from seatrial.scheduler.config import Configuration, load_configuration, read_configuration
from seatrial.scheduler.plugins import known_points, load_plugins
from seatrial.simulation import Sandbox, read_programs
from seatrial.simulation import Simulation as _Simulation
from seatrial.store.snapshots import Snapshot
from seatrial.timeline import Level, Timeline

__all__ = ["Cluster", "Result", "Simulation", "run"]

Source = str | Path | Document
ConfigSource = str | Path | Document | Configuration
Plugins = str | Path | type[Any] | Sequence[str | Path | type[Any]]


def run(
    scenario: Source,
    scheduler_config: ConfigSource | None = None,
    plugins: Plugins = (),
    seed: int = 0,
    record: Level = "full",
    **options: Any,
) -> Result:
    """Run a scenario (a path or a document) in this process; `options` are those of `Simulation`.

    `plugins` are classes, modules by name, or .py files: `plugins=["spot.py", QuietNodes, "my.module"]`. They run where
    `scheduler_config` enables them.
    """
    return Simulation(scenario, scheduler_config, plugins, seed, record, **options).run()


class Simulation(_Simulation):
    """A scenario run that can be inspected while it is Paused and continued with more operations."""

    def __init__(
        self,
        scenario: Source,
        scheduler_config: ConfigSource | None = None,
        plugins: Plugins = (),
        seed: int = 0,
        record: Level = "full",
        *,
        tie_break: TieBreak = "upstream",
        outside: str | Path | Sequence[str | Path] = (),
        outside_timeout: str = "60s",
        explain_with_model: bool = False,
        **options: Any,
    ) -> None:
        """`options` are those of `SimulationOptions`: cells, drain, max_loops, snapshot, strategy, registry.

        `snapshot` may be the path of a file. `outside` names programs as the option --outside of `seatrial run` does:
        `outside=["scheduler=./kube-scheduler --config x.yaml"]`, or files that say more.
        """
        document, folder = _document(scenario)
        if isinstance(options.get("snapshot"), str | Path):
            options["snapshot"] = Snapshot.read(Path(options["snapshot"]))
        named = [outside] if isinstance(outside, str | Path) else outside
        programs = read_programs([str(each) for each in named], outside_timeout, explain=explain_with_model)
        classes = plugin_classes(plugins)
        config = configuration_from(programs.model_config if scheduler_config is None else scheduler_config, classes)
        chosen = SimulationOptions(
            level=record, seed=seed, tie_break=tie_break, scheduler_config=config, plugins=classes, **options
        )
        super().__init__(document, chosen, folder=folder, programs=programs)

    def run(self, each: Callable[[], object] | None = None) -> Result:
        """Run until Succeeded, Paused or Failed."""
        if each is None:
            self.play()
        else:
            self.play(lambda run: each())
        return self.result()

    def add(self, operations: Iterable[Document]) -> None:
        """Add operations (or events), like a patch of the spec of a Paused Scenario."""
        self.scenario_run.add([encode(operation) for operation in operations])

    def result(self) -> Result:
        """The result up to now."""
        return Result(run_of(self))


class Cluster(Sandbox):
    """A cluster for step-by-step use: apply objects, schedule, look, explain."""

    def __init__(
        self,
        scheduler_config: ConfigSource | None = None,
        plugins: Plugins = (),
        *,
        seed: int = 0,
        tie_break: TieBreak = "upstream",
    ) -> None:
        """`scheduler_config` and `plugins` as in `run`: paths, documents, classes, names of modules."""
        classes = plugin_classes(plugins)
        config = configuration_from(scheduler_config, classes)
        super().__init__(SimulationOptions(seed=seed, tie_break=tie_break, scheduler_config=config, plugins=classes))

    def explain(self, pod: str) -> Explanation:
        """Why a pod (`name` in default, or `namespace/name`) is where it is."""
        return explain(_run("cluster", b"{}", self.timeline), pod)


def run_of(simulation: _Simulation) -> Run:
    """The run up to now, as results read it."""
    return _run(simulation.name, b"".join(simulation.scenario_run.parts()), simulation.scenario_run.timeline)


def _run(name: str, scenario: bytes, timeline: Timeline) -> Run:
    return Run(name, scenario, None, timeline.rows.table(), timeline.dictionary.document())


def plugin_classes(plugins: Plugins) -> list[type[Any]]:
    """Plugin classes from classes, names of modules, and .py files."""
    given = [plugins] if isinstance(plugins, str | Path | type) else plugins
    found: dict[str, type[Any]] = {}
    for each in given:
        classes = [each] if isinstance(each, type) else load_plugins([str(each)])
        found.update((plugin.__name__, plugin) for plugin in classes)
    return list(found.values())


def configuration_from(source: ConfigSource | None, plugins: Sequence[type[Any]] = ()) -> Configuration:
    """A scheduler configuration from a path, a document, or as it is; None gives the defaults."""
    if isinstance(source, Configuration):
        return source
    loaded = read_configuration(Path(source)) if isinstance(source, str | Path) else source
    return load_configuration(loaded, plugins=known_points(plugins))


def _document(scenario: Source) -> tuple[Document, Path | None]:
    if isinstance(scenario, dict):
        decode_scenario(scenario)
        return respell(scenario), Path.cwd()
    path = Path(scenario)
    if not path.exists():
        raise ConfigError(str(path), "", "no such file")
    return read_scenario(path), path.parent
