"""`vcsimctl create cluster`, `start cluster`, `get clusters`, `delete cluster`, `kubeconfig` and `status`."""

import dataclasses
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from seatrial.vcsim.state import ClusterHome

MEBIBYTE = 1024 * 1024
ANSWERS_WITHIN = 20.0
"""Seconds after which a server that runs is taken not to answer."""
Name = Annotated[str | None, typer.Argument(help="The cluster; may be left out where there is only one.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for name, command, text in (
        ("create", create_cluster, "Make a cluster."),
        ("start", start_cluster, "Start a cluster that was stopped."),
        ("get", get_clusters, "List clusters."),
        ("delete", delete_cluster, "Delete a cluster."),
    ):
        group = typer.Typer(no_args_is_help=True, help=text)
        group.command("clusters" if name == "get" else "cluster")(command)
        app.add_typer(group, name=name)
    app.command()(kubeconfig)
    app.command()(status)


def create_cluster(
    config: Annotated[Path, typer.Option(help="A SimulatorCluster file.")],
    runtime: Annotated[
        str, typer.Option(help="embedded (needs nothing), kwok or kind (real control planes).")
    ] = "embedded",
    set_context: Annotated[
        bool, typer.Option("--set-context", help="Add context vcsim-NAME to your kubeconfig and use it.")
    ] = False,
    volcano_config: Annotated[
        Path | None, typer.Option(help="volcano-scheduler.conf; default: the one of Volcano's Helm chart.")
    ] = None,
    binary: Annotated[list[str] | None, typer.Option(help="NAME=PATH of a program that kwok or kind needs.")] = None,
    manifests: Annotated[
        Path | None, typer.Option(help="Manifests that kwok (definitions) or kind (KWOK, Volcano) installs.")
    ] = None,
) -> None:
    """Make a cluster of fake nodes with the Volcano scheduler from a SimulatorCluster file."""
    from seatrial.vcsim import contexts
    from seatrial.vcsim.kinds import SimulatorCluster
    from seatrial.vcsim.runtimes import RuntimeOptions
    from seatrial.vcsim.runtimes import runtime as runtime_named
    from seatrial.vcsim.state import ClusterHome
    from seatrial.volcano.config import read_conf

    began = time.monotonic()
    cluster = SimulatorCluster.read(config)
    chosen = runtime_named(runtime)
    home = ClusterHome(cluster.metadata.name)
    if home.exists():
        why = f"cluster {home.name!r} exists already; `vcsimctl delete cluster {home.name}` removes it"
        raise ConfigError(str(config), "metadata.name", why)
    read_conf(volcano_config)
    kept = home.volcano_config if volcano_config is not None else None
    options = RuntimeOptions(kept, _binaries(binary or []), manifests)
    _refuse_missing(runtime, chosen.missing(options))
    home.clear()
    home.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        if volcano_config is not None:
            shutil.copyfile(volcano_config, home.volcano_config)
        record = chosen.create(cluster, home, options)
        context = ""
        if set_context:
            contexts.merge(home.kubeconfig, home.name)
            context = contexts.context_name(home.name)
        home.write_record(dataclasses.replace(record, context=context))
        shutil.copyfile(config, home.config)
    except BaseException:
        home.clear()
        raise
    taken = chosen.health(home, record).memory
    count = 1 + sum(group.count for group in cluster.spec.nodes)
    typer.echo(f"Cluster {home.name}: {count} nodes Ready in {time.monotonic() - began:.1f} s{_megabytes(taken)}")
    typer.echo(f"kubeconfig: {home.kubeconfig}")
    if context:
        typer.echo(f"context: {context}")


def start_cluster(name: Name = None) -> None:
    """Start a cluster whose server has ended, with all its objects and reports; one that runs is left alone."""
    from seatrial.vcsim import contexts
    from seatrial.vcsim.runtimes import runtime as runtime_named
    from seatrial.vcsim.state import the_cluster

    home = the_cluster(name)
    record = home.record()
    chosen = runtime_named(record.runtime)
    if chosen.health(home, record).is_running:
        typer.echo(f"Cluster {home.name} runs already.")
        return
    home.write_record(dataclasses.replace(chosen.start(home, record), context=record.context))
    if record.context:
        contexts.merge(home.kubeconfig, home.name)
    typer.echo(f"Cluster {home.name} runs again.")
    typer.echo(f"kubeconfig: {home.kubeconfig}")


def _megabytes(taken: int) -> str:
    return f", {taken / MEBIBYTE:.0f} MB" if taken else ""


def _binaries(given: list[str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for text in given:
        name, separator, path = text.partition("=")
        if not separator or not name or not path:
            raise ConfigError("", "--binary", f"expected NAME=PATH, got {text!r}")
        found[name] = Path(path)
    return found


def _refuse_missing(runtime: str, missing: list[str]) -> None:
    if missing:
        listed = "\n".join(f"  - {item}" for item in missing)
        raise ConfigError("", "--runtime", f"{runtime} needs what is not there; nothing was made:\n{listed}")


def get_clusters() -> None:
    """List all clusters."""
    from seatrial.vcsim.state import clusters

    rows = [("NAME", "RUNTIME", "STATE", "NODES", "CREATED")]
    for home in clusters():
        try:
            rows.append(_row(home))
        except ConfigError as error:
            print(f"vcsimctl: {error}", file=sys.stderr)
            rows.append((home.name, "-", "Damaged", "-", "-"))
    if len(rows) == 1:
        typer.echo("No clusters.", err=True)
        return
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        typer.echo("   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _row(home: "ClusterHome") -> tuple[str, str, str, str, str]:
    """A line of `get clusters`; ConfigError where the files of the cluster are damaged."""
    from seatrial.vcsim.runtimes import runtime as runtime_named

    record = home.record()
    health = runtime_named(record.runtime).health(home, record)
    count = 1 + sum(group.count for group in home.cluster().spec.nodes)
    return home.name, record.runtime, health.state, str(count), record.created


def delete_cluster(
    name: Annotated[str | None, typer.Argument(help="The cluster, or the name of virtual runs.")] = None,
    named: Annotated[str | None, typer.Option("--name", help="The cluster, too.")] = None,
    keep_reports: Annotated[
        Path | None, typer.Option(help="Move the reports of its tests into this directory first.")
    ] = None,
) -> None:
    """Delete a cluster: its server, its directory with all reports, and its context; or the reports of virtual runs."""
    from seatrial.vcsim import contexts
    from seatrial.vcsim.state import ClusterHome

    chosen = name or named
    if chosen is None or (name and named and name != named):
        raise ConfigError("", "NAME", "expected the name of one cluster")
    home = ClusterHome.find_kept(chosen)
    was_cluster = home.exists()
    if was_cluster:
        _stop(home)
    if keep_reports is not None and home.has_reports():
        keep_reports.mkdir(parents=True, exist_ok=True)
        for path in sorted(home.reports.iterdir()):
            shutil.move(path, keep_reports / path.name)
    if was_cluster:
        contexts.remove(home.name)
    home.remove()
    typer.echo(f"Cluster {home.name} deleted." if was_cluster else f"Reports of {home.name} deleted.")


def _stop(home: "ClusterHome") -> None:
    """End what runs of a cluster; a warning where the record of it is damaged."""
    from seatrial.vcsim.runtimes import runtime as runtime_named

    try:
        record = home.record()
    except ConfigError as error:
        print(f"vcsimctl: {error}", file=sys.stderr)
        still = f"if its server still runs, end the process that has {home.kubeconfig} in its command line"
        print(f"vcsimctl: warning: {still}", file=sys.stderr)
    else:
        runtime_named(record.runtime).delete(home, record)


def kubeconfig(
    name: Name = None,
    path: Annotated[bool, typer.Option("--path", help="Print where it is instead of what is in it.")] = False,
) -> None:
    """Print the kubeconfig of a cluster."""
    from seatrial.vcsim.state import the_cluster

    home = the_cluster(name)
    typer.echo(str(home.kubeconfig) if path else home.kubeconfig.read_bytes(), nl=path)


def status(name: Name = None) -> None:
    """Tell whether a cluster runs (exit code 1 where not), how many of its nodes are Ready, and what it takes."""
    from seatrial.vcsim.client import Client
    from seatrial.vcsim.runtimes import runtime as runtime_named
    from seatrial.vcsim.state import the_cluster

    home = the_cluster(name)
    record = home.record()
    health = runtime_named(record.runtime).health(home, record)
    nodes = ""
    if health.is_running:
        try:
            with Client(home.kubeconfig, timeout=ANSWERS_WITHIN) as client:
                nodes = "{} of {} Ready".format(*client.ready_nodes())
        except ConfigError as error:
            health = dataclasses.replace(health, state="Unreachable", reason=str(error))
    rows = [("Cluster", home.name), ("Runtime", record.runtime), ("State", health.state)]
    rows += [(label, text) for label, text in (("Reason", health.reason), ("Nodes", nodes)) if text]
    if health.memory:
        rows.append(("Memory", f"{health.memory / MEBIBYTE:.0f} MB"))
    if record.pid:
        rows.append(("Process", str(record.pid)))
    rows.append(("Kubeconfig", str(home.kubeconfig)))
    for label, text in rows:
        typer.echo(f"{label + ':':<12}{text}")
    if not health.is_running:
        raise typer.Exit(1)
