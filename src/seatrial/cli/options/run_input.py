"""The arguments RUN and --server of the commands that read a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from seatrial.results import Run

RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="An --out folder, its result.json, a Scenario in a file (kubectl get scenario NAME -o json), "
        "- for standard input, or with --server the name of a Scenario.",
        show_default=False,
    ),
]
ServerOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL|KUBECONFIG",
        help="Read the Scenario RUN with its whole timeline from `seatrial serve`.",
        show_default=False,
    ),
]


@contextmanager
def load_run(source: str, server: str | None = None) -> Iterator["Run"]:
    """The run that the arguments of a command name; files of a server are removed at the end."""
    from seatrial.results import Run

    if server is None:
        yield Run.load(source)
        return
    from seatrial.cli.options.served_runs import fetch_run

    with fetch_run(server, source) as run:
        yield run
