"""`vcsimctl run`: throughput tests in real or virtual time, and what-if comparisons of two configurations."""

import csv
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from seatrial.command_line import finite
from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from seatrial.model.documents import Document
    from seatrial.vcsim.reports import Outcome
    from seatrial.vcsim.state import ClusterHome
    from seatrial.vcsim.virtual_run import VirtualRun
    from seatrial.vcsim.workload import Workload
    from seatrial.volcano.config import SchedulerConf

DETAILS = ("namespace", "name", "job", "node", "created", "scheduled", "finished", "waited")
HELM = "that of Volcano's Helm chart"
YOUNG_OBJECTS = 3_000_000
"""Objects between collections: a virtual run leaves next to no cycles."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(run)


def run(
    test: Annotated[Path | None, typer.Option(help="A SimulatorJob file.")] = None,
    cluster: Annotated[str | None, typer.Option(help="The cluster; may be left out where there is only one.")] = None,
    clock: Annotated[
        Literal["real", "virtual"],
        typer.Option(help="real measures what the machine does; virtual runs the load in simulated time."),
    ] = "real",
    settle: Annotated[
        float,
        typer.Option(min=0, callback=finite, help="Seconds without a scheduled pod after which a real test ends."),
    ] = 30.0,
    config: Annotated[
        Path | None, typer.Option(help="A SimulatorCluster file; virtual runs need no cluster that runs.")
    ] = None,
    volcano_config: Annotated[
        Path | None, typer.Option(help="volcano-scheduler.conf of a virtual run; default: that of the Helm chart.")
    ] = None,
    volcano_version: Annotated[
        str,
        typer.Option(
            metavar="1.15|master", help="Whose Volcano decides in a virtual run; default: master, of August 2026."
        ),
    ] = "",
    compare: Annotated[
        tuple[Path, Path] | None, typer.Option(help="Play the load under two configurations and compare waiting times.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KIND/NAME.FIELD=VALUE",
            help="Compare with the load as it is: queue/research.weight=4, queue/research.capability.cpu=8, "
            "job/train.minAvailable=2. May be repeated.",
        ),
    ] = None,
    nodes: Annotated[Path | None, typer.Option(help="Nodes from a CSV file.")] = None,
    pods: Annotated[Path | None, typer.Option(help="Pods with run times from a CSV file, instead of a test.")] = None,
    queues: Annotated[Path | None, typer.Option(help="Queues from a CSV file.")] = None,
    out: Annotated[Path | None, typer.Option(help="Directory for reports; default: that of the cluster.")] = None,
) -> None:
    """Create the objects of a test at its rate, and report how many pods were scheduled each second."""
    if (test is None) == (pods is None):
        raise ConfigError("", "--test", "expected a test with --test FILE, or pods with --pods FILE")
    if compare is not None and settings:
        raise ConfigError("", "--set", "compares two loads under one configuration, --compare two configurations")
    if clock == "virtual" or any(each is not None for each in (compare, settings, pods, config, nodes)):
        _run_virtual(
            test, cluster, config, volcano_config, volcano_version, compare, settings or [], nodes, pods, queues, out
        )
    elif volcano_config is not None or volcano_version or queues is not None:
        raise ConfigError("", "--clock", "a real test runs on the cluster as it is; expected --clock virtual")
    else:
        assert test is not None
        _run_real(test, cluster, settle, out)


def _run_real(test: Path, cluster: str | None, settle: float, out: Path | None) -> None:
    from seatrial.vcsim import real_run
    from seatrial.vcsim.client import Client
    from seatrial.vcsim.kinds import SimulatorJob
    from seatrial.vcsim.load import read_load
    from seatrial.vcsim.runtimes import runtime as runtime_named
    from seatrial.vcsim.state import the_cluster
    from seatrial.vcsim.throughput import NoSchedulingEvents

    job = SimulatorJob.read(test)
    home = the_cluster(cluster)
    record = home.record()
    health = runtime_named(record.runtime).health(home, record)
    if not health.is_running:
        raise ConfigError("", home.name, f"the cluster does not run: {health.reason}")
    with Client(home.kubeconfig) as client:
        load = read_load(job, test, lambda version, kind: client.resource(version, kind)[1])
    try:
        outcome = real_run.run(home.kubeconfig, load, job.spec.timing, settle)
    except NoSchedulingEvents as error:
        reasons = [f"  {why}" for why in real_run.why_nothing_was_scheduled(home.kubeconfig, load)]
        raise _no_events(test, "\n".join([str(error), *reasons])) from None
    except KeyboardInterrupt:
        kept = f"its objects stay in cluster {home.name} until the next test or `vcsimctl delete cluster {home.name}`"
        print(f"vcsimctl: {test}: interrupted; no report was written, and {kept}", file=sys.stderr)
        raise
    conf = str(home.volcano_config) if home.volcano_config.exists() else HELM
    _conclude(test, outcome, out or home.reports, "real", home.name, conf)


def _conclude(test: Path, outcome: "Outcome", directory: Path, clock: str, cluster: str, conf: str) -> None:
    from seatrial.vcsim import reports

    origin = reports.Origin(clock, str(test.absolute()), cluster, conf)
    path = reports.write(outcome.throughput, directory, origin)
    typer.echo(reports.terminal_text(test, outcome, path.absolute()), nl=False)
    if outcome.reason:
        print(f"vcsimctl: {test}: {outcome.reason}", file=sys.stderr)
        raise typer.Exit(1)


def _no_events(test: Path, why: str) -> typer.Exit:
    print(f"vcsimctl: {test}: {why}", file=sys.stderr)
    return typer.Exit(1)


def _run_virtual(
    test: Path | None,
    cluster: str | None,
    config: Path | None,
    volcano_config: Path | None,
    volcano_version: str,
    compare: tuple[Path, Path] | None,
    settings: list[str],
    nodes: Path | None,
    pods: Path | None,
    queues: Path | None,
    out: Path | None,
) -> None:
    from seatrial.simulation import tune_collector
    from seatrial.vcsim.settings import with_settings
    from seatrial.vcsim.virtual_run import VirtualRun
    from seatrial.volcano.config import read_conf

    tune_collector(YOUNG_OBJECTS)
    home, machines = _machines(cluster, config, nodes)
    workload = _workload(test, pods, queues)
    if compare is not None:
        _compare(machines, [(workload, read_conf(conf, volcano_version), str(conf)) for conf in compare], out)
        return
    if volcano_config is None and home.volcano_config.exists():
        volcano_config = home.volcano_config
    if settings:
        chosen, changed = read_conf(volcano_config, volcano_version), with_settings(workload, settings)
        _compare(machines, [(workload, chosen, "as it is"), (changed, chosen, ", ".join(settings))], out)
        return
    simulated = VirtualRun(machines, read_conf(volcano_config, volcano_version))
    simulated.simulate(workload, until_finished=pods is not None)
    directory = out or home.reports
    if pods is not None:
        _write_details(simulated, directory)
    conf = str(volcano_config.absolute()) if volcano_config is not None else HELM
    _report(test or pods or Path(), simulated, workload, directory, home.name, conf)


def _machines(cluster: str | None, config: Path | None, nodes: Path | None) -> "tuple[ClusterHome, list[Document]]":
    """The nodes of a virtual run, and where its reports go."""
    from seatrial.clock import START
    from seatrial.model.times import to_time
    from seatrial.vcsim.kinds import SimulatorCluster
    from seatrial.vcsim.nodes import cluster_nodes, table_nodes
    from seatrial.vcsim.state import ClusterHome, the_cluster

    now = to_time(START)
    if nodes is not None:
        return ClusterHome.named(cluster or "csv"), table_nodes(nodes, now)
    home = ClusterHome(SimulatorCluster.read(config).metadata.name) if config is not None else the_cluster(cluster)
    described: SimulatorCluster = SimulatorCluster.read(config) if config is not None else home.cluster()
    return home, cluster_nodes(described, now)


def _workload(test: Path | None, pods: Path | None, queues: Path | None) -> "Workload":
    import dataclasses

    from seatrial.vcsim import tables
    from seatrial.vcsim.kinds import SimulatorJob
    from seatrial.vcsim.load import read_load
    from seatrial.vcsim.virtual_run import is_namespaced
    from seatrial.vcsim.workload import load_workload
    from seatrial.volcano.apis import DEFAULT_QUEUE

    listed = tables.read_queues(queues) if queues is not None else []
    if pods is not None:
        found = tables.read_pods(pods, [DEFAULT_QUEUE, *(queue["metadata"]["name"] for queue in listed)])
    else:
        assert test is not None
        job: SimulatorJob = SimulatorJob.read(test)
        found = load_workload(read_load(job, test, is_namespaced), job.spec.timing)
    return dataclasses.replace(found, prepared=[*listed, *found.prepared])


def _compare(
    machines: "list[Document]", sides: "list[tuple[Workload, SchedulerConf | None, str]]", out: Path | None
) -> None:
    from seatrial.vcsim import what_if

    a, b = (what_if.simulate(machines, *side) for side in sides)
    for line in what_if.comparison(a, b):
        typer.echo(line)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        path = out / "what-if.json"
        path.write_text(json.dumps(what_if.document(a, b), indent=2) + "\n")
        typer.echo(f"Written: {path}")


def _report(
    test: Path, simulated: "VirtualRun", workload: "Workload", directory: Path, cluster: str, conf: str
) -> None:
    from seatrial.vcsim.reports import Outcome
    from seatrial.vcsim.throughput import NoSchedulingEvents, measure

    try:
        throughput = measure(simulated.moments())
    except NoSchedulingEvents as error:
        raise _no_events(test, _because(str(error), simulated)) from None
    reason, expected = workload.reason, simulated.expected(workload)
    if not reason and (simulated.scheduled < expected or simulated.cut):
        cut = f"; the run was cut off {simulated.cut}" if simulated.cut else ""
        reason = _because(f"{simulated.scheduled} of {expected} pods were scheduled{cut}", simulated)
    _conclude(test, Outcome(throughput, expected, reason), directory, "virtual", cluster, conf)


def _because(text: str, simulated: "VirtualRun") -> str:
    reasons = [f"  {why}" for why in list(simulated.reasons().values())[:10]]
    return "\n".join([text, *reasons])


def _write_details(simulated: "VirtualRun", directory: Path) -> None:
    """One line a pod, in seconds from the start."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "pods_detail.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(DETAILS)
        for pod in simulated.pods.values():
            times = [_seconds(value) for value in (pod.created, pod.scheduled, pod.finished)]
            waited = _seconds(pod.scheduled - pod.created) if pod.scheduled is not None else ""
            table.writerow([pod.namespace, pod.name, pod.group, pod.node, *times, waited])


def _seconds(microseconds: int | None) -> str:
    return "" if microseconds is None else f"{microseconds / 1_000_000:g}"
