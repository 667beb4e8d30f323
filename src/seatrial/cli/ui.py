"""`seatrial ui`: the pages over a folder of runs, in a browser of this machine."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from seatrial.model.errors import ConfigError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(ui)


def ui(
    folder: Annotated[Path, typer.Argument(help="A folder with runs (--out folders) and sweeps in it.")] = Path(),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes any free one.")] = 0,
) -> None:
    """Browse runs, comparisons and sweeps: a read-only server for this machine.

    The printed address is good for one browser. Ctrl-C ends it.
    """
    from seatrial.server.serving import Listener, serve
    from seatrial.web import Library, RunPages

    if not folder.is_dir():
        raise ConfigError(str(folder), "FOLDER", "is not a folder")
    pages = RunPages(Library(folder.resolve()))
    try:
        listener = Listener.on("127.0.0.1", port, lambda _: None)
    except OSError as error:
        raise ConfigError("", "--port", f"cannot listen on {port}: {error.strerror}") from error
    address = f"{listener.url}/?token={pages.token}"
    say = partial(typer.echo, f"Open in a browser: {address}")
    asyncio.run(serve(pages, listener, ready=say, stop=lambda: None))
