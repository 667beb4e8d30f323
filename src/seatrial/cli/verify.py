"""`seatrial verify`: replays recorded answers of real schedulers."""

from pathlib import Path
from typing import Annotated

import typer

Version = Annotated[
    str,
    typer.Option(
        "--kubernetes-version", help="1.34 to 1.37; without it, the version that a case names.", show_default=False
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    verify = typer.Typer(no_args_is_help=True, help="Compare with recorded answers of real schedulers.")
    verify.command("golden")(golden)
    app.add_typer(verify, name="verify")


def golden(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory with recorded cases.")],
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; 0 takes one per core.")] = 0,
    kubernetes_version: Version = "",
) -> None:
    """Replay every recorded case of DIR; the last line says how many are equal."""
    from seatrial.verify import verify

    outcomes = verify(directory, jobs, kubernetes_version)
    equal = 0
    for name, difference in outcomes:
        if difference is None:
            equal += 1
        else:
            typer.echo(f"{name}: {difference}")
    typer.echo(f"{equal} of {len(outcomes)} cases equal")
    if equal != len(outcomes):
        raise typer.Exit(1)
