"""`seatrial scenario-runner`: the container of KEP-184 that runs one scenario in a simulator."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from seatrial.command_line import finite


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(scenario_runner)


def scenario_runner(
    template: Annotated[
        Path, typer.Option(envvar="SCENARIO_TEMPLATE_FILE_PATH", help="File with the Scenario.", show_default=False)
    ],
    result: Annotated[
        Path, typer.Option(envvar="SCENARIO_RESULT_FILE_PATH", help="File for its result.", show_default=False)
    ],
    port: Annotated[
        int,
        typer.Option(envvar="SIMULATOR_KUBE_APISERVER_PORT", min=1, max=65535, help="The simulator's API server."),
    ] = 3131,
    wait: Annotated[
        float, typer.Option(min=0, callback=finite, help="Seconds until the API server has to be ready.")
    ] = 300,
    paused: Annotated[
        float, typer.Option(min=0, callback=finite, help="Seconds after which a Paused scenario counts as ended.")
    ] = 5,
    append_done: Annotated[
        bool, typer.Option("--append-done", help="Add a Done operation at the last step of the scenario.")
    ] = False,
) -> None:
    """Create a Scenario in a simulator, follow it to its end and store its result; exit 1 if it did not succeed."""
    from seatrial.operator import RunnerError, RunnerOptions, ScenarioRunner

    options = RunnerOptions(template, result, port, wait=wait, paused=paused, append_done=append_done)
    try:
        ScenarioRunner(options, lambda text: typer.echo(text, err=True)).run()
    except RunnerError as error:
        print(f"seatrial: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
