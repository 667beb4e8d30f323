"""The option `--scale` of benchmarks."""

from typing import Annotated

import typer

from seatrial.command_line import finite

Scale = Annotated[float, typer.Option(help="Share of the nodes and pods.", min=0.001, callback=finite)]
