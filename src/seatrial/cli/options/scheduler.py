"""Options of the commands that take a scheduler configuration."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seatrial.control_plane import load_or_refuse

if TYPE_CHECKING:
    from seatrial.scheduler.config import Configuration
    from seatrial.store.snapshots import Snapshot

Gates = Annotated[str, typer.Option("--feature-gates", help="Name=true|false,…", show_default=False)]


KubernetesVersion = Annotated[
    str,
    typer.Option(
        "--kubernetes-version",
        metavar="1.34|1.35|1.36|1.37",
        help="Whose kube-scheduler decides. Default: that of the snapshot's nodes, else 1.37.",
        show_default=False,
    ),
]

VolcanoVersion = Annotated[
    str,
    typer.Option(
        "--volcano-version",
        metavar="1.15|master",
        help="Whose Volcano decides. Default: master, the tree of August 2026.",
        show_default=False,
    ),
]


def read_scheduler(
    path: Path | None, gates: str, modules: Sequence[str], version: str = ""
) -> "tuple[Configuration, list[type[Any]]]":
    """The configuration that the options of a command give, and its plugins."""
    from seatrial.scheduler.plugins import load_plugins

    classes = load_plugins(modules)
    return load_or_refuse(path, classes, gates, version), classes


def chosen_version(option: str, snapshot: "Snapshot | None" = None, *, quiet: bool = False) -> str:
    """The minor version to simulate: that of the option, or of the snapshot's nodes; standard error says which."""
    from seatrial.scenario import simulated_version

    version, note = simulated_version(option, snapshot)
    if note and not quiet:
        typer.echo(f"seatrial: {note}", err=True)
    return version
