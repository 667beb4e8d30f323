"""The Python API: `Scenario`, `run`, `compare`, `sweep`, `Result` and `Cluster`.

```python
result = seatrial.run("scenario.yaml")
print(result.explain("web-1"))
result.pods.filter(pl.col("node").is_null())

cluster = seatrial.Cluster.from_snapshot("cluster.yaml")
print(cluster.drain(selector="topology.kubernetes.io/zone=b", force=True).sentences())
```
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TypedDict, Union, Unpack, cast

import polars as pl

from seatrial.capacity import NodeAnswer, PodAnswer, Setting, count_nodes, count_pods, read_node, read_pod
from seatrial.model.documents import Document, encode
from seatrial.model.errors import ConfigError
from seatrial.results import Explanation, Run, explain
from seatrial.results import Result as _Result
from seatrial.results.comparison import Comparison
from seatrial.results.comparison import compare as compare_runs
from seatrial.scenario import ResultsStrategy, SimulationOptions, TieBreak, simulated_version
from seatrial.scenario.engine import Registry
from seatrial.scenario.spec import decode_scenario, read_scenario, respell, scenario_alone, with_volcano
from seatrial.scenario.spec.kind import API_VERSION, STEP_DURATION
from seatrial.scheduler.config import Configuration, load_configuration, read_configuration
from seatrial.scheduler.plugins import known_points, load_plugins
from seatrial.scheduler.versions import DEFAULT, find_version
from seatrial.simulation import Sandbox, make_folder, read_programs
from seatrial.simulation import Simulation as _Simulation
from seatrial.store.snapshots import Snapshot, Unbind, UnbindOrder, clean, export, read_prices
from seatrial.timeline import Level, Timeline
from seatrial.volcano.config import SchedulerConf, read_conf
from seatrial.whatif import Answer, NodeChoice, Questions, answer_of

__all__ = ["Cluster", "Result", "RunOptions", "Scenario", "Simulation", "compare", "run", "sweep"]

NOW = "now"
"""The name of a cluster as it is among the sides of a comparison."""
Source = Union[str, Path, Document, "Scenario"]
ConfigSource = str | Path | Document | Configuration
Plugins = str | Path | type[Any] | Sequence[str | Path | type[Any]]


class RunOptions(TypedDict, total=False):
    """Further options of `run` and `Simulation`, by keyword; most are as the option of `seatrial run` of that name.

    - `snapshot`: the cluster to begin with, a file or documents; `unbind`, `unbind_order`: which of its pods lose their
      node first, and in which order they are placed again; `prices`: a file with prices of nodes.
    - `outside`: programs that take part, named as in `outside=["scheduler=./kube-scheduler --config x.yaml"]`, or files
      that say more; `outside_timeout`: how long one may take, `"60s"`; `explain_with_model`: let the embedded scheduler
      explain the decisions of the outside one.
    - `kubernetes_version`: one of 1.34 to 1.37, by default that of the snapshot's nodes; `volcano`: let Volcano
      schedule, as `volcano_config` says and `volcano_version` does; `tie_break`: `upstream`, `name` or `random`.
    - `drain`: run until no timer is left; `max_loops`: loops after which a step is given up; `cells`, `full_repeat`:
      how much of the attempts `result.json` gets; `strategy`: when the status is brought up to date; `registry`: the
      controllers that are known.
    """

    snapshot: str | Path | Sequence[Document]
    unbind: Unbind
    unbind_order: UnbindOrder
    prices: str | Path | None
    outside: str | Path | Sequence[str | Path]
    outside_timeout: str
    explain_with_model: bool
    kubernetes_version: str
    volcano: bool
    volcano_config: SchedulerConf | str | Path | None
    volcano_version: str
    tie_break: TieBreak
    drain: bool
    max_loops: int | None
    cells: int
    full_repeat: bool
    strategy: ResultsStrategy
    registry: Registry


class Result(_Result):
    """The result of a run: tables, measures, explanations and a page."""

    def report(self, path: str | Path = "report.html") -> Path:
        """Write the run as a page that opens offline; its path."""
        from seatrial.web import report_page, write_page

        write_page(report_page(self.run), Path(path))
        return Path(path)


def run(
    scenario: Source,
    scheduler_config: ConfigSource | None = None,
    plugins: Plugins = (),
    seed: int = 0,
    record: Level = "full",
    **options: Unpack[RunOptions],
) -> Result:
    """Run a scenario (a path or a document) in this process; `options` are those of `RunOptions`.

    `plugins` are classes, modules by name, or .py files: `plugins=["spot.py", QuietNodes, "my.module"]`. They run where
    `scheduler_config` enables them.
    """
    return Simulation(scenario, scheduler_config, plugins, seed, record, **options).run()


def compare(*, measures: Sequence[str] = (), **results: Result) -> Comparison:
    """Compare results of one scenario by name, the others against the first: `compare(spread=a, packed=b)`."""
    if len(results) < 2:
        raise ConfigError("", "results", f"expected two results or more, got {len(results)}")
    named = [replace(result.run, name=name) for name, result in results.items()]
    return compare_runs(named, list(measures) or None)


def sweep(file: str | Path, out: str | Path | None = None, processes: int | None = None) -> pl.DataFrame:
    """Run every point of a sweep file that `out` does not have yet, in processes of this machine: a row for each point.

    `out` is by default `seatrial-out/` and the name of the file. The points run in new processes, so a program that is
    a script calls this below `if __name__ == "__main__":`.
    """
    from seatrial.sweeps import Dataset, Sweep, points_of, read_bundle
    from seatrial.sweeps.engines.local import LocalEngine, usable_cpus

    path = Path(file)
    folder = Path(out) if out is not None else Path("seatrial-out") / path.stem
    bundle = read_bundle(path)
    make_folder(folder)
    whole = Sweep(bundle, points_of(bundle.spec), Dataset(folder), path)
    engine = LocalEngine(bundle, processes or usable_cpus())
    try:
        whole.run(engine, whole.missing(), 1, lambda: None)
    finally:
        engine.close()
    return whole.finish()[0]


class Scenario:
    """A scenario that is written in Python: objects are manifests, as documents.

    ```python
    scenario = Scenario("small")
    scenario.create(1, node, count=4)  # in step 1, four nodes; `${index}` in the object counts from 0
    scenario.create(2, pod, count=9)
    scenario.delete(3, "v1", "Pod", "pod-0")
    seatrial.run(scenario)
    ```

    It ends after its last step; every method returns the scenario, so that calls can follow each other.
    """

    def __init__(self, name: str, controllers: Sequence[str] = ("scheduler",), step_duration: str = "") -> None:
        """`controllers` are simulated; `step_duration`, as in `"10m"`, is the virtual time from step to step."""
        self.name, self._controllers, self._step_duration = name, tuple(controllers), step_duration
        self._operations, self._generators = list[Document](), list[Document]()

    def __repr__(self) -> str:
        return f"<Scenario {self.name}: {len(self._operations) + len(self._generators)} operations>"

    def create(self, step: int, object: Document, count: int | None = None) -> Self:
        """Create an object, or `count` like it whose fields may have `${index}`."""
        operation = {"step": step, "createOperation": {"object": object}}
        if count is None:
            self._operations.append(operation)
        else:
            self._generators.append({**operation, "count": count})
        return self

    def patch(
        self, step: int, api_version: str, kind: str, name: str, patch: Document, namespace: str = "default"
    ) -> Self:
        """Patch an object (a strategic merge patch)."""
        target = _target(api_version, kind, name, namespace)
        self._operations.append({"step": step, "patchOperation": {**target, "patch": encode(patch).decode()}})
        return self

    def delete(self, step: int, api_version: str, kind: str, name: str, namespace: str = "default") -> Self:
        """Delete an object."""
        self._operations.append({"step": step, "deleteOperation": _target(api_version, kind, name, namespace)})
        return self

    @property
    def document(self) -> Document:
        """The Scenario as a document, which `seatrial run` plays as well."""
        last = max((each["step"] for each in (*self._operations, *self._generators)), default=0)
        metadata: Document = {"name": self.name}
        if self._step_duration:
            metadata["annotations"] = {STEP_DURATION: self._step_duration}
        spec = {
            "controllers": {"simulationControllers": {"enabled": [{"name": name} for name in self._controllers]}},
            "operations": [*self._operations, {"step": last, "doneOperation": {}}],
            **({"generators": self._generators} if self._generators else {}),
        }
        return {"apiVersion": API_VERSION, "kind": "Scenario", "metadata": metadata, "spec": spec}


def _target(api_version: str, kind: str, name: str, namespace: str) -> Document:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"typeMeta": {"apiVersion": api_version, "kind": kind}, "objectMeta": metadata}


class Simulation(_Simulation):
    """A scenario run that can be inspected while it is Paused and continued with more operations."""

    def __init__(
        self,
        scenario: Source,
        scheduler_config: ConfigSource | None = None,
        plugins: Plugins = (),
        seed: int = 0,
        record: Level = "full",
        **options: Unpack[RunOptions],
    ) -> None:
        """`scheduler_config` and `plugins` as in `run`, `options` as `RunOptions` says."""
        document, folder = _document(scenario)
        take = cast(dict[str, Any], options).pop
        cluster = _cluster(
            take("snapshot", ()), take("unbind", "none"), take("unbind_order", "created"), seed, take("prices", None)
        )
        outside = take("outside", ())
        named = [outside] if isinstance(outside, str | Path) else outside
        programs = read_programs(
            [str(each) for each in named], take("outside_timeout", "60s"), explain=take("explain_with_model", False)
        )
        classes = plugin_classes(plugins)
        source = programs.model_config if scheduler_config is None else scheduler_config
        config = configuration_from(source, classes, simulated_version(take("kubernetes_version", ""), cluster)[0])
        played = with_volcano(document) if take("volcano", False) else document
        conf, release = take("volcano_config", None), take("volcano_version", "")
        if not isinstance(conf, SchedulerConf):
            conf = read_conf(Path(conf) if conf else None, release)
        chosen = SimulationOptions(
            level=record, seed=seed, scheduler_config=config, plugins=classes, snapshot=cluster,
            volcano_config=conf,
            **cast(dict[str, Any], options),
        )  # fmt: skip
        super().__init__(played, chosen, folder=folder, programs=programs)

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
    """A cluster: apply objects and schedule step by step, or ask what would happen to it."""

    def __init__(
        self,
        scheduler_config: ConfigSource | None = None,
        plugins: Plugins = (),
        *,
        seed: int = 0,
        tie_break: TieBreak = "upstream",
        snapshot: Snapshot | None = None,
        volcano: bool = False,
        volcano_config: str | Path | None = None,
        kubernetes_version: str = "",
    ) -> None:
        """`scheduler_config` and `plugins` as in `run`: paths, documents, classes, names of modules.

        `kubernetes_version` is by default that of the snapshot's nodes.
        """
        classes = plugin_classes(plugins)
        self._version = simulated_version(kubernetes_version, snapshot)[0]
        config = configuration_from(scheduler_config, classes, self._version)
        conf = read_conf(Path(volcano_config)) if volcano_config is not None else None
        self._has_volcano = volcano
        super().__init__(
            SimulationOptions(seed=seed, tie_break=tie_break, scheduler_config=config, plugins=classes,
                              snapshot=snapshot or Snapshot(), volcano_config=conf)
        )  # fmt: skip

    @classmethod
    def from_snapshot(
        cls, path: str | Path, scheduler_config: ConfigSource | None = None, plugins: Plugins = (),
        *, unbind: Unbind = "none", unbind_order: UnbindOrder = "created", prices: str | Path | None = None,
        **options: Any,
    ) -> Self:  # fmt: skip
        """The cluster of a dump (`kubectl get -o yaml`, `seatrial snapshot`)."""
        snapshot = _cluster(path, unbind, unbind_order, options.get("seed", 0), prices)
        return cls(scheduler_config, plugins, snapshot=snapshot, **options)

    @classmethod
    def from_scenario(
        cls, scenario: Source, scheduler_config: ConfigSource | None = None, plugins: Plugins = (),
        *, snapshot: Snapshot | None = None, **options: Any,
    ) -> Self:  # fmt: skip
        """The cluster at the end of a scenario; ConfigError where that ends Failed."""
        cluster = cls(scheduler_config, plugins, snapshot=snapshot, **options)
        document, folder = _document(scenario)
        played = _Simulation(document, replace(cluster.options, level="none"), folder=folder)
        played.play()
        if played.status.phase == "Failed":
            raise ConfigError(str(scenario) if folder else "", "", f"ended Failed: {played.status.message}")
        path = played.name if isinstance(scenario, dict | Scenario) else str(scenario)
        left = Snapshot(list(clean(export(played.store))), path=path)
        cluster.options = replace(cluster.options, snapshot=left)
        return cluster

    def explain(self, pod: str) -> Explanation:
        """Why a pod (`name` in default, or `namespace/name`) is where it is."""
        return explain(_run("cluster", b"{}", self.timeline), pod)

    @property
    def snapshot(self) -> Snapshot:
        """The cluster as it is."""
        if self.is_started:
            return Snapshot(list(clean(export(self.store))), path="the cluster")
        return cast(Snapshot, self.options.snapshot)

    @property
    def questions(self) -> Questions:
        """Writes the Scenario of a question, for `ask`."""
        return Questions(self.snapshot)

    def ask(self, question: Document) -> Answer:
        """Play the Scenario of a question until no timer is left; the cluster itself stays as it is."""
        options = replace(self.options, snapshot=self.snapshot, drain=True, level="summary")
        played = _Simulation(with_volcano(question) if self._has_volcano else question, options)
        played.play()
        return answer_of(run_of(played))

    def drain(self, *nodes: str, selector: str = "", pool: str = "", pool_label: str = "", **options: Any) -> Answer:
        """Drain nodes as kubectl does; options: force, delete_emptydir_data, grace_period, timeout, pod_start."""
        return self.ask(self.questions.drain(NodeChoice(nodes, selector, pool, pool_label), **options))

    def remove(self, *nodes: str, selector: str = "", pool: str = "", pool_label: str = "", **options: Any) -> Answer:
        """Drain nodes and delete each; options as for `drain`."""
        return self.ask(self.questions.remove(NodeChoice(nodes, selector, pool, pool_label), **options))

    def outage(self, *nodes: str, selector: str = "", pool: str = "", pool_label: str = "", **options: Any) -> Answer:
        """Let nodes fail at once; options: vanish, pod_start."""
        return self.ask(self.questions.outage(NodeChoice(nodes, selector, pool, pool_label), **options))

    def upgrade(self, *nodes: str, selector: str = "", pool: str = "", pool_label: str = "", **options: Any) -> Answer:
        """Replace nodes; options: surge, unavailable, node_start, version, and those of `drain`."""
        return self.ask(self.questions.upgrade(NodeChoice(nodes, selector, pool, pool_label), **options))

    def add(self, node: Document | str | Path | None = None, count: int = 1, **options: Any) -> Answer:
        """Add nodes like a Node (a document or a file), or like those of a `pool`."""
        template = read_node(Path(node)) if isinstance(node, str | Path) else node
        return self.ask(self.questions.add(template, count, **options))

    def scale(self, workload: str, replicas: int, namespace: str = "default", **options: Any) -> Answer:
        """Scale a workload, `deployment/NAME`."""
        return self.ask(self.questions.scale(workload, replicas, namespace, **options))

    def compare(
        self, *scheduler_configs: ConfigSource, unbind: Unbind = "workloads", pool_label: str = ""
    ) -> Comparison:
        """The cluster as it is against its pods placed again by each configuration (None: the default one)."""
        freed, runs = self.snapshot.unbound(unbind), [run_as_it_is(self.snapshot)]
        for place, source in enumerate(scheduler_configs or (self.options.scheduler_config,)):
            config = configuration_from(source, self.options.plugins, self._version)
            options = replace(self.options, snapshot=freed, scheduler_config=config)
            played = _Simulation(scenario_alone(f"placed-again-{place}", freed), options)
            played.play()
            runs.append(run_of(played))
            runs[-1].name = Path(source).stem if isinstance(source, str | Path) else f"scheduler-{place}"
        return compare_runs(runs, has_now=True, pool_label=pool_label)

    def capacity_pods(self, pod: str | Path, limit: int = 100_000) -> PodAnswer:
        """How many more of a pod fit."""
        return count_pods(self._setting, read_pod(Path(pod)), limit)

    def capacity_nodes(self, node: str | Path, limit: int = 5_000) -> NodeAnswer:
        """How many nodes like one the pending pods need."""
        return count_nodes(self._setting, read_node(Path(node)), limit)

    @property
    def _setting(self) -> Setting:
        return Setting(replace(self.options, snapshot=self.snapshot, level="none"))


def run_as_it_is(snapshot: Snapshot) -> Run:
    """A cluster as it is: its objects are loaded, and no controller and no scheduler does anything."""
    document = scenario_alone(NOW)
    document["spec"]["controllers"] = {
        "presimulationControllers": {"disabled": [{"name": "*"}]},
        "simulationControllers": {"enabled": [{"name": "clusterroleaggregation"}]},
    }
    played = _Simulation(document, SimulationOptions(level="summary", snapshot=snapshot))
    played.play()
    run = run_of(played)
    run.name = NOW
    return run


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


def configuration_from(
    source: ConfigSource | None, plugins: Sequence[type[Any]] = (), version: str = ""
) -> Configuration:
    """A scheduler configuration from a path, a document, or as it is; None gives the defaults of the version."""
    if isinstance(source, Configuration):
        return source
    loaded = read_configuration(Path(source)) if isinstance(source, str | Path) else source
    kubernetes = find_version(version) if version else DEFAULT
    return load_configuration(loaded, plugins=known_points(plugins), version=kubernetes)


def _cluster(
    source: str | Path | Sequence[Document], unbind: Unbind, order: UnbindOrder, seed: int, prices: str | Path | None
) -> Snapshot:
    """A cluster to begin with, from a file or from documents."""
    if isinstance(source, str | Path):
        found = Snapshot.read(Path(source), unbind, order, seed)
    else:
        given = source if isinstance(source, Snapshot) else Snapshot(list(source))
        found = given if unbind == "none" else given.unbound(unbind, order, seed)
    return found if prices is None else found.with_prices(read_prices(Path(prices)))


def _document(scenario: Source) -> tuple[Document, Path | None]:
    if isinstance(scenario, Scenario):
        scenario = scenario.document
    if isinstance(scenario, dict):
        decode_scenario(scenario)
        return respell(scenario), Path.cwd()
    path = Path(scenario)
    if not path.exists():
        raise ConfigError(str(path), "", "no such file")
    return read_scenario(path), path.parent
