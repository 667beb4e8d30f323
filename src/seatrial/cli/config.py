"""`seatrial config`: what a KubeSchedulerConfiguration means (KEP-2891)."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from seatrial.cli.options.scheduler import Gates, KubernetesVersion, chosen_version
from seatrial.control_plane import load

if TYPE_CHECKING:
    from seatrial.scheduler.config import Configuration

File = Annotated[Path, typer.Argument(help="A KubeSchedulerConfiguration in YAML or JSON.", show_default=False)]
Optional = Annotated[
    Path | None, typer.Argument(help="A KubeSchedulerConfiguration; without one, the defaults.", show_default=False)
]
Modules = Annotated[
    list[str] | None, typer.Option("--plugins", help="A Python module (or .py file) with plugins; may be repeated.")
]
Output = Annotated[Literal["yaml", "json"], typer.Option("-o", "--output", help="The format to print.")]

commands = typer.Typer(no_args_is_help=True, help="What a scheduler configuration means.")


def register(app: typer.Typer) -> None:
    app.add_typer(commands, name="config")


@commands.command()
def default(feature_gates: Gates = "", kubernetes_version: KubernetesVersion = "") -> None:
    """Print what `kube-scheduler --write-config-to` writes without a configuration."""
    _write(None, None, feature_gates, kubernetes_version)


@commands.command()
def write(
    file: File, plugins: Modules = None, feature_gates: Gates = "", kubernetes_version: KubernetesVersion = ""
) -> None:
    """Print what `kube-scheduler --write-config-to` writes for a configuration."""
    _write(file, plugins, feature_gates, kubernetes_version)


def _write(file: Path | None, plugins: list[str] | None, feature_gates: str, version: str) -> None:
    from seatrial.model.errors import ConfigError
    from seatrial.scheduler.config import ConfigurationError, write_config

    try:
        text = write_config(_load(file, plugins, feature_gates, version))
    except ConfigurationError as error:
        raise ConfigError(str(file), error.stage, error.message) from None
    typer.echo(text, nl=False)


@commands.command()
def expand(
    file: Optional = None,
    plugins: Modules = None,
    output: Output = "yaml",
    feature_gates: Gates = "",
    kubernetes_version: KubernetesVersion = "",
) -> None:
    """Print the configuration with the plugins of every extension point spelled out."""
    import orjson

    from seatrial.model.errors import ConfigError
    from seatrial.model.yaml_reader import dump
    from seatrial.scheduler.config import ConfigurationError, expanded_document

    try:
        document = expanded_document(_load(file, plugins, feature_gates, kubernetes_version))
    except ConfigurationError as error:
        raise ConfigError(str(file), error.stage, error.message) from None
    typer.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2) if output == "json" else dump(document).rstrip("\n"))


@commands.command()
def validate(
    file: File, plugins: Modules = None, feature_gates: Gates = "", kubernetes_version: KubernetesVersion = ""
) -> None:
    """Say what is wrong with a configuration: the stage, the field and why. Exit code 1 if anything is."""
    from seatrial.scheduler.config import ConfigurationError
    from seatrial.scheduler.plugins import load_plugins, plugin_warnings

    try:
        configuration = _load(file, plugins, feature_gates, kubernetes_version)
    except ConfigurationError as error:
        for problem in error.problems:
            typer.echo(f"{file}: {error.stage}: {problem}", err=True)
        raise typer.Exit(1) from None
    for text in plugin_warnings(load_plugins(plugins or ()), configuration):
        typer.echo(f"{file}: warning: {text}", err=True)
    typer.echo(f"{file}: valid")


def _load(file: Path | None, plugins: list[str] | None, feature_gates: str, version: str) -> "Configuration":
    from seatrial.scheduler.plugins import load_plugins

    return load(file, load_plugins(plugins or ()), feature_gates, chosen_version(version))
