"""The `vcsimctl` command, put together from the modules of `commands`."""

from functools import lru_cache
from typing import TYPE_CHECKING

from seatrial import command_line

if TYPE_CHECKING:
    import typer

PROGRAM = "vcsimctl"


@lru_cache(maxsize=1)
def build() -> "typer.Typer":
    """The application with all its commands."""
    from seatrial.vcsim.commands import clusters, report, run

    app = command_line.application(
        PROGRAM,
        "Simulated clusters of any size for the Volcano scheduler, and throughput tests on them.",
        "First steps: [bold]vcsimctl create cluster --config cluster.yaml[/bold], then "
        "[bold]vcsimctl run --test test-case.yaml[/bold]. Exit codes: 0 done, 1 the run says no, 2 bad usage or input.",
    )
    for module in (clusters, run, report):
        module.register(app)
    return app


def main() -> None:
    """Run the command line."""
    command_line.run(PROGRAM, build)
