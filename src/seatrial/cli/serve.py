"""`seatrial serve`: the API server with its scheduler and controllers, for kubectl and any other client."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from seatrial.cli.options.outside import Outside, OutsideTimeout
from seatrial.cli.options.scheduler import Gates, KubernetesVersion, VolcanoVersion, chosen_version
from seatrial.cli.options.snapshot import OrderOfPods, SnapshotFile, UnbindPods
from seatrial.control_plane import Settings
from seatrial.model.errors import ConfigError

MEBIBYTE = 1024 * 1024


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(serve)


def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the server; 0 takes any free one.")] = 3131,
    bind_address: Annotated[
        str, typer.Option(help="Address of this machine to listen on; 0.0.0.0 for all.")
    ] = "127.0.0.1",
    simulator_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="A second port, for clients of kube-scheduler-simulator.")
    ] = None,
    ui: Annotated[bool, typer.Option(help="Have the browser interface at `/`.")] = True,
    cors_allowed_origins: Annotated[str, typer.Option(help="Origins whose pages may call the server, by comma.")] = "",
    data_dir: Annotated[Path | None, typer.Option(help="Keep all objects here, safe against a crash.")] = None,
    kubeconfig: Annotated[Path | None, typer.Option(help="Where the kubeconfig is written.")] = None,
    insecure: Annotated[bool, typer.Option(help="Plain HTTP, and no token needed.")] = False,
    token_file: Annotated[
        Path | None, typer.Option(help='More users: lines of token,user,uid,"group1,group2".')
    ] = None,
    authorization_mode: Annotated[
        Literal["RBAC", "AlwaysAllow"],
        typer.Option(help="RBAC evaluates roles and bindings; AlwaysAllow lets every known user do everything."),
    ] = "RBAC",
    enable_admission_plugins: Annotated[
        str, typer.Option(help="Admission plugins to run, by comma; all that are here run by default.")
    ] = "",
    disable_admission_plugins: Annotated[
        str, typer.Option(help="Admission plugins not to run, by comma: LimitRanger, ResourceQuota, …")
    ] = "",
    max_request_bytes: Annotated[int, typer.Option(min=1, help="Largest request body.")] = 64 * MEBIBYTE,
    scheduler: Annotated[bool, typer.Option(help="Run the embedded kube-scheduler.")] = True,
    scheduler_config: Annotated[Path | None, typer.Option(help="A KubeSchedulerConfiguration.")] = None,
    feature_gates: Gates = "",
    kubernetes_version: KubernetesVersion = "",
    controllers: Annotated[
        list[str] | None,
        typer.Option(
            help="Controllers to run, by name and comma; empty for none. Default: all. "
            "A .py file or dotted module adds its controllers to scenarios."
        ),
    ] = None,
    record: Annotated[
        Literal["none", "summary", "full"],
        typer.Option(help="What is kept of each scheduling attempt, on its pod and in scenarios."),
    ] = "full",
    plugins: Annotated[list[str] | None, typer.Option(help="Modules with scheduler plugins.")] = None,
    outside: Outside = None,
    outside_timeout: OutsideTimeout = "60s",
    explain_with_model: Annotated[
        bool, typer.Option("--explain-with-model", help="Compare an outside scheduler with the embedded exact one.")
    ] = False,
    strict: Annotated[bool, typer.Option(help="Foreign writes fail a running scenario.")] = False,
    drain: Annotated[bool, typer.Option(help="After the last step scenarios run until no timer is left.")] = False,
    snapshot: SnapshotFile = None,
    unbind: UnbindPods = "none",
    unbind_order: OrderOfPods = "created",
    volcano: Annotated[
        bool, typer.Option(help="Serve Volcano's kinds, and run its controllers and its scheduler.")
    ] = False,
    volcano_config: Annotated[
        Path | None, typer.Option(help="volcano-scheduler.conf; default: the one of Volcano's Helm chart.")
    ] = None,
    volcano_version: VolcanoVersion = "",
) -> None:
    """Serve a simulated cluster over the Kubernetes API."""
    from seatrial.control_plane import disabled_plugins, run
    from seatrial.simulation import read_programs
    from seatrial.store.snapshots import Snapshot

    if snapshot is None and unbind != "none":
        raise ConfigError("", "--unbind", "goes with --snapshot, whose pods lose their nodes")
    names, modules = chosen_controllers(controllers)
    cluster = None if snapshot is None else Snapshot.read(snapshot, unbind, unbind_order)
    run(
        Settings(
            port=port,
            bind_address=bind_address,
            simulator_port=simulator_port,
            ui=ui,
            cors_allowed_origins=tuple(filter(None, cors_allowed_origins.split(","))),
            data_dir=data_dir,
            kubeconfig=kubeconfig,
            insecure=insecure,
            token_file=token_file,
            authorization_mode=authorization_mode,
            disabled_plugins=disabled_plugins(enable_admission_plugins, disable_admission_plugins),
            max_request_bytes=max_request_bytes,
            scheduler=scheduler,
            scheduler_config=scheduler_config,
            feature_gates=feature_gates,
            kubernetes_version=chosen_version(kubernetes_version, cluster),
            controllers=names,
            own_controllers=modules,
            record=record,
            plugins=tuple(plugins or ()),
            outside=read_programs(outside or (), outside_timeout, explain=explain_with_model).controllers,
            explain_with_model=explain_with_model,
            strict=strict,
            drain=drain,
            snapshot=cluster,
            volcano=volcano or volcano_config is not None or bool(volcano_version),
            volcano_config=volcano_config,
            volcano_version=volcano_version,
        )
    )


def chosen_controllers(given: list[str] | None) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """The names of the controllers that run (None: the usual ones), and the modules with a user's own."""
    words = [word.strip() for text in given or () for word in text.split(",")]
    modules = tuple(word for word in words if "." in word)
    names = tuple(word for word in words if word and "." not in word)
    return (None if len(modules) == len(words) else names), modules
