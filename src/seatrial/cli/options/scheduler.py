"""Options of the commands that take a scheduler configuration."""

from typing import Annotated

import typer

Gates = Annotated[str, typer.Option("--feature-gates", help="Name=true|false,…", show_default=False)]
