"""The arguments RUN of the commands that read a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from seatrial.results.run import Run

RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="An --out folder, its result.json, a Scenario in a file (kubectl get scenario NAME -o json), "
        "or - for standard input.",
        show_default=False,
    ),
]


@contextmanager
def load_run(source: str) -> Iterator["Run"]:
    """The run that the arguments of a command name."""
    from seatrial.results.run import Run

    yield Run.load(source)
