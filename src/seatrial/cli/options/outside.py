"""The options of commands in which programs outside this process may take part."""

from typing import Annotated

import typer

Outside = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=COMMAND|FILE",
        help="A controller that is a program of its own, e.g. 'scheduler=./kube-scheduler --config x.yaml'. "
        "KUBECONFIG is set for it, and {kubeconfig} in the command is replaced. A file may say more.",
    ),
]
OutsideTimeout = Annotated[
    str, typer.Option(metavar="DURATION", help="How long an outside controller may show no progress.")
]
