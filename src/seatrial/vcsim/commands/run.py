"""`vcsimctl run`: a throughput test on a cluster."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from seatrial.model.errors import ConfigError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(run)


def run(
    test: Annotated[Path, typer.Option(help="A SimulatorJob file.")],
    cluster: Annotated[str | None, typer.Option(help="The cluster; may be left out where there is only one.")] = None,
    settle: Annotated[
        float, typer.Option(min=0, help="Seconds without a scheduled pod after which the test ends.")
    ] = 30.0,
) -> None:
    """Create the objects of a test at its rate, and report how many pods were scheduled each second."""
    from seatrial.vcsim import real_run, reports
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
        print(f"vcsimctl: {test}: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    path = reports.write(outcome.throughput, home.reports)
    typer.echo(reports.terminal_text(test, outcome, path), nl=False)
    if outcome.reason:
        print(f"vcsimctl: {test}: {outcome.reason}", file=sys.stderr)
        raise typer.Exit(1)
