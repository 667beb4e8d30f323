"""The `seatrial` command, assembled from the modules of this package that register one."""

import sys
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from seatrial import command_line

if TYPE_CHECKING:
    import typer

PROGRAM = "seatrial"

COMMANDS = {
    "bench": "bench",
    "capacity": "capacity",
    "compare": "compare",
    "config": "config",
    "explain": "explain",
    "init": "init",
    "measures": "results",
    "operator": "operator",
    "report": "report",
    "results": "results",
    "run": "run",
    "scenario-runner": "scenario_runner",
    "serve": "serve",
    "simulate": "simulate",
    "snapshot": "snapshot",
    "sweep": "sweep",
    "ui": "ui",
    "verify": "verify",
    "what-if": "what_if",
}
"""The commands, and the module of this package that registers each."""

FIRST_STEPS = """\
Seatrial plays a scenario against a simulated Kubernetes cluster and says what
the scheduler does, and why.

First steps:
  seatrial init                    write a first scenario into this folder
  seatrial run scenario.yaml       play it
  seatrial explain seatrial-out/first-steps big
                                   say why a pod waits

Your own cluster (seatrial snapshot --help shows how to make cluster.yaml):
  seatrial what-if drain --snapshot cluster.yaml NODE
  seatrial compare --snapshot cluster.yaml --unbind workloads \\
                   --scheduler-config other.yaml

A cluster for kubectl, client libraries and your own scheduler:
  seatrial serve

seatrial --help lists every command, seatrial COMMAND --help explains one.
"""


@lru_cache(maxsize=1)
def build(command: str = "") -> "typer.Typer":
    """The application with the command that is to be run, else with all: the other modules then need not be loaded.

    A wrong value in the environment ends any command here, unless only help is requested.
    """
    import importlib

    from seatrial.cli.terminal.epilogs import close_help
    from seatrial.control_plane import check_strategy

    if command_line.HELP.isdisjoint(sys.argv[1:]):
        check_strategy()
    app = command_line.application(
        PROGRAM, "What a Kubernetes scheduler will do, before it does it.", facts=_kernel, first_steps=FIRST_STEPS
    )
    chosen = COMMANDS.get(command)
    for name in dict.fromkeys(COMMANDS.values()) if chosen is None else (chosen,):
        importlib.import_module(f"seatrial.cli.{name}").register(app)
    close_help(app)
    return app


def _kernel() -> str:
    from seatrial.scheduler.evaluator import kernel_in_use

    return kernel_in_use()


def main() -> None:
    """Run the command line."""
    command_line.run(PROGRAM, partial(build, *sys.argv[1:2]), _kernel)
