"""`seatrial operator`: SchedulerSimulations and Simulators in a user's cluster."""

import os
from pathlib import Path
from typing import Annotated

import typer

from seatrial.model.errors import ConfigError

group = typer.Typer(invoke_without_command=True, help="Serve SchedulerSimulations and Simulators in a cluster.")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.add_typer(group, name="operator")


@group.callback()
def operator(
    context: typer.Context,
    kubeconfig: Annotated[
        Path | None, typer.Option(help="How to reach the cluster; by default as kubectl, or the service account.")
    ] = None,
    namespace: Annotated[
        list[str] | None, typer.Option("--namespace", "-n", help="Only in this namespace; may be repeated.")
    ] = None,
    image: Annotated[str | None, typer.Option(help="Seatrial's image, as in the manifests.")] = None,
    etcd_image: Annotated[str, typer.Option(help="Image of etcd, for simulator images that need one.")] = "",
    available_timeout: Annotated[
        int, typer.Option(min=0, help="Seconds until a Simulator has to be Available; 0: no limit.")
    ] = 300,
    active_deadline: Annotated[
        int, typer.Option(min=0, help="Seconds a simulation may take unless its spec says; 0: no limit.")
    ] = 0,
    liveness: Annotated[str | None, typer.Option(help="Answer probes here, e.g. http://0.0.0.0:8080/healthz.")] = None,
    metrics_port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="Serve /metrics here, outside a Pod on loopback only; 0: no metrics."),
    ] = 0,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log every step.")] = False,
) -> None:
    """Run the operator until SIGTERM or Ctrl-C."""
    if context.invoked_subcommand is not None:
        return
    try:
        from seatrial.operator import Options, run
    except ImportError as error:
        raise ConfigError("", "operator", "needs the extra [operator]: pip install 'seatrial[operator]'") from error
    from seatrial.operator import IMAGE, Deadlines

    if kubeconfig is not None:
        if not kubeconfig.is_file():
            raise ConfigError(str(kubeconfig), "--kubeconfig", "no such file")
        os.environ["KUBECONFIG"] = str(kubeconfig)
    deadlines = Deadlines(available_timeout, active_deadline)
    options = Options(tuple(namespace or ()), image or IMAGE, etcd_image, deadlines, liveness, metrics_port)
    run(options, verbose=verbose)


@group.command()
def manifests(
    image: Annotated[str | None, typer.Option(help="Seatrial's image.")] = None,
    namespace: Annotated[str, typer.Option("--namespace", "-n", help="Where the operator runs.")] = "seatrial-system",
) -> None:
    """Print everything that the operator needs in a cluster, for `kubectl apply --server-side -f -`."""
    from seatrial.model.yaml_reader import dump
    from seatrial.operator import IMAGE
    from seatrial.operator import manifests as made

    typer.echo("---\n".join(dump(document) for document in made(image or IMAGE, namespace)), nl=False)
