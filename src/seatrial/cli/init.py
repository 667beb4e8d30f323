"""`seatrial init`: writes an example that is shipped with the package into a folder, and says what to run next."""

from pathlib import Path
from typing import Annotated

import typer

import seatrial
from seatrial.model.errors import ConfigError

STARTER = {
    "scenario.yaml": ("first-steps/scenario.yaml", "# One node and two pods; one of them does not fit.\n"),
    "packing.yaml": ("spread-or-binpack/scenario.yaml", "# Ten nodes and thirty pods, for a comparison.\n"),
    "scheduler.yaml": (
        "spread-or-binpack/scheduler.binpack.yaml",
        "# A scheduler that fills nodes one by one; without a configuration it spreads pods.\n",
    ),
}
"""The files of `seatrial init`: the example that each is a copy of, and the comment that it begins with."""
NEXT_STEPS = (
    ("seatrial run {0}scenario.yaml", "play it"),
    ("seatrial explain seatrial-out/first-steps big", "why a pod waits"),
    (
        "seatrial compare --scenario {0}packing.yaml --scheduler-config default --scheduler-config {0}scheduler.yaml",
        "what another configuration changes",
    ),
    ("seatrial serve", "a cluster for kubectl"),
)


def register(app: typer.Typer) -> None:
    app.command()(init)


def init(
    folder: Annotated[Path, typer.Argument(help="Where to write; created if missing.")] = Path(),
    example: Annotated[str, typer.Option(help="Copy this example whole instead of the first steps.")] = "",
    list_examples: Annotated[bool, typer.Option("--list", help="List the examples.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files.")] = False,
) -> None:
    """Write a first scenario and a scheduler configuration, and say what to run."""
    names = sorted(path.name for path in examples_folder().iterdir() if _is_example(path))
    if list_examples:
        typer.echo("\n".join(names))
    elif example:
        if example not in names:
            raise ConfigError("", "--example", f"no example {example!r}; there are {', '.join(names)}")
        _write(folder, _whole(examples_folder() / example), force=force)
        typer.echo(f"written {folder / example}; the first lines of its files say how they are run")
    else:
        _write(folder, {name: _starter(name) for name in STARTER}, force=force)
        prefix = "" if folder == Path() else f"{folder}/"
        typer.echo(f"written {', '.join(prefix + name for name in STARTER)}\n\nNext:")
        for command, purpose in NEXT_STEPS:
            typer.echo(f"  {command.format(prefix)}\n      {purpose}")


def examples_folder() -> Path:
    """The examples in the installed package, or in the repository that is being worked on."""
    package = Path(seatrial.__file__).parent
    shipped = package / "examples"
    return shipped if shipped.is_dir() else package.parents[1] / "examples"


def _is_example(path: Path) -> bool:
    return (path / "scenario.yaml").exists() or path.name in ("notebooks", "plugins")


def _starter(name: str) -> bytes:
    source, comment = STARTER[name]
    lines = (examples_folder() / source).read_text(encoding="utf-8").splitlines(keepends=True)
    while lines[0].startswith("#"):
        del lines[0]
    return "".join((comment, *lines)).encode()


def _whole(folder: Path) -> dict[str, bytes]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(folder.parent)): path.read_bytes() for path in files}


def _write(folder: Path, files: dict[str, bytes], *, force: bool) -> None:
    """Write all files, or none where one exists."""
    existing = [name for name in files if (folder / name).exists()]
    if existing and not force:
        raise ConfigError(str(folder), "", f"{', '.join(existing)} exist; --force overwrites")
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
