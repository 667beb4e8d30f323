"""The options of commands that measure runs: --measures and --fail-if."""

from typing import Annotated

import typer

Measures = Annotated[
    list[str] | None,
    typer.Option("--measures", help="A Python module (or .py file) with measures of yours; may be repeated."),
]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        help="Exit 1 if it holds: 'nodes_used > 5%' and 'nodes_used > 2' are changes from the first run (in percent, "
        "and in the unit of the measure), 'value(nodes_used) > 20' is the value itself in any run."
    ),
]
