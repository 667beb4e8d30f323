"""Options as values: commands that share options list them once, and receive them by name."""

from collections.abc import Callable
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any

import typer

from seatrial.cli.options.scheduler import KubernetesVersion
from seatrial.cli.options.snapshot import OrderOfPods, PricesFile, SnapshotFile, UnbindPods, WithVolcano


def option(name: str, kind: Any, default: Any = Parameter.empty) -> Parameter:
    """An option or argument; `kind` is its type with what typer says of it, without a default it is required."""
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def add_command(
    group: typer.Typer,
    name: str,
    options: tuple[Parameter, ...],
    function: Callable[..., None],
    help: str | None = None,
) -> None:
    """Add a command that calls `function` with its options by name; its help is that of the function by default."""

    def command(**given: Any) -> None:
        function(**given)

    command.__signature__ = Signature(options)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in options}
    command.__doc__ = help or function.__doc__
    group.command(name)(command)


CLUSTER = (
    option("snapshot", SnapshotFile, None),
    option(
        "scenario", Annotated[Path | None, typer.Option(help="A Scenario; the question is asked at its end.")], None
    ),
    option("unbind", UnbindPods, "none"),
    option("unbind_order", OrderOfPods, "created"),
    option("prices", PricesFile, None),
    option("volcano", WithVolcano, False),
    option("kubernetes_version", KubernetesVersion, ""),
    option("scheduler_config", Annotated[Path | None, typer.Option(help="A KubeSchedulerConfiguration.")], None),
    option(
        "volcano_config",
        Annotated[Path | None, typer.Option(help="volcano-scheduler.conf, where Volcano schedules.")],
        None,
    ),
)
"""Of questions about a cluster."""
