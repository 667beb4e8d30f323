"""The help of the commands: their tasks, an example or two of each, and the exit codes."""

from collections.abc import Iterator

import typer
from typer.models import CommandInfo

from seatrial.cli.options.snapshot import DUMP
from seatrial.command_help import Closing, HelpCommand, HelpGroup

GROUPS = {
    "Begin": ("init", "run", "explain", "ui"),
    "Ask about your cluster": ("snapshot", "what-if", "capacity"),
    "Compare and search": ("compare", "sweep", "simulate"),
    "Read results": ("results", "measures", "report"),
    "Serve a simulated cluster": ("serve", "operator", "scenario-runner"),
    "Check": ("config", "verify", "bench"),
}
"""The commands by task."""
EXAMPLE = "seatrial run scenario.yaml"

UNUSABLE = "2 an option or file cannot be used"
DONE = f"0 done, {UNUSABLE}"
MEASURED = f"0 every figure is as it must be, 1 one is not, {UNUSABLE}"

WHAT_IF = f"0 every workload is as ready as before, 1 one is not or a node cannot be drained, {UNUSABLE}"

CLOSINGS: dict[str, tuple[tuple[str, ...], str]] = {
    "run": (
        ("seatrial run scenario.yaml --scheduler-config scheduler.yaml", "seatrial run scenario.yaml --check"),
        "0 Succeeded or Paused (--check: nothing wrong), 1 Failed (--check: something is wrong), "
        "2 a file cannot be decoded or used",
    ),
    "serve": (
        ("seatrial serve --data-dir ./cluster", "kubectl --kubeconfig ./cluster/kubeconfig create -f scenario.yaml"),
        f"0 stopped by SIGTERM or Ctrl-C, {UNUSABLE}",
    ),
    "compare": (
        (
            "seatrial compare seatrial-out/a seatrial-out/b --fail-if 'nodes_used > 5%'",
            "seatrial compare --scenario scenario.yaml --scheduler-config default --scheduler-config other.yaml",
            "seatrial compare --snapshot cluster.yaml --unbind workloads --scheduler-config default "
            "--scheduler-config other.yaml",
            "seatrial compare least-simulation.yaml most-simulation.yaml --seeds 10",
        ),
        f"0 compared, 1 over a --fail-if line or a run Failed, {UNUSABLE}",
    ),
    "capacity pods": (
        (
            "seatrial capacity pods web.yaml --snapshot cluster.yaml",
            "seatrial capacity pods chart.yaml --snapshot cluster.yaml --node node.yaml",
            "seatrial capacity pods web.yaml --scenario scenario.yaml --at-least 20 -o json",
        ),
        f"0 counted, 1 fewer than --at-least fit or the scenario Failed, {UNUSABLE}",
    ),
    "capacity nodes": (
        (
            "seatrial capacity nodes node.yaml --scenario scenario.yaml",
            "seatrial capacity nodes node.yaml --scenario scenario.yaml --add --at-most 5",
            "seatrial capacity nodes small.yaml large.yaml --snapshot cluster.yaml --prices prices.yaml",
        ),
        f"0 counted, 1 more than --at-most are needed, no number is enough, or the scenario Failed, {UNUSABLE}",
    ),
    "explain": (
        (
            "seatrial explain seatrial-out/demo",
            "seatrial explain seatrial-out/demo default/web-1 --all",
            "seatrial explain seatrial-out/demo 'web-*'",
            "seatrial explain seatrial-out/volcano-reclaim queue/research",
            "seatrial explain demo web-1 --server ./cluster/kubeconfig",
        ),
        DONE,
    ),
    "init": (("seatrial init", "seatrial init try --example custom-plugin"), DONE),
    "results": (
        ("seatrial results seatrial-out/demo pods allocation", "seatrial results seatrial-out/demo --csv ./tables"),
        DONE,
    ),
    "ui": (("seatrial ui", "seatrial ui seatrial-out --port 8080"), DONE),
    "report": (
        (
            "seatrial report seatrial-out/demo",
            "kubectl get scenario demo -o json | seatrial report - -o demo.html",
            "seatrial report demo --server ./cluster/kubeconfig",
        ),
        DONE,
    ),
    "measures": (("seatrial measures",), "0"),
    "operator manifests": (
        ("seatrial operator manifests --image registry.example/seatrial:1 > operator.yaml",),
        "0",
    ),
    "simulate": (
        (
            "seatrial simulate simulation.yaml --out ./result",
            "seatrial simulate least.yaml most.yaml --fail-if 'nodes_used > 5%'",
        ),
        f"0 all Completed, 1 one Failed or a --fail-if line is crossed, {UNUSABLE}",
    ),
    "scenario-runner": (
        ("seatrial scenario-runner --template scenario.yaml --result result.json --port 3131",),
        "0 Succeeded, 1 the scenario Failed or ended Paused, or the simulator is gone, 2 a file cannot be used",
    ),
    "snapshot": (
        (
            DUMP,
            "seatrial snapshot objects.yaml -o cluster.yaml",
            "seatrial snapshot --context production -o cluster.yaml",
        ),
        DONE,
    ),
    "sweep": (
        ("seatrial sweep sweep.yaml --processes 2", "seatrial sweep sweep.yaml --engine ray --address 10.0.0.1:6379"),
        f"0 all points succeeded, 1 a point failed or the sweep was interrupted, {UNUSABLE}",
    ),
    "what-if drain": (
        (
            "seatrial what-if drain --snapshot cluster.yaml -l topology.kubernetes.io/zone=eu-b --force",
            "seatrial what-if drain --snapshot cluster.yaml node-7 --print > scenario.yaml",
        ),
        WHAT_IF,
    ),
    "what-if remove": (("seatrial what-if remove --snapshot cluster.yaml --pool spot --force",), WHAT_IF),
    "what-if outage": (
        ("seatrial what-if outage --snapshot cluster.yaml -l topology.kubernetes.io/zone=eu-b --vanish",),
        WHAT_IF,
    ),
    "what-if upgrade": (("seatrial what-if upgrade --snapshot cluster.yaml --pool general --surge 3",), WHAT_IF),
    "what-if add": (("seatrial what-if add --snapshot cluster.yaml --pool general --count 3",), WHAT_IF),
    "what-if scale": (
        ("seatrial what-if scale deployment/web --snapshot cluster.yaml -n shop --replicas 40",),
        WHAT_IF,
    ),
    "config default": (
        ("seatrial config default > scheduler.yaml", "seatrial config default --kubernetes-version 1.35"),
        "0 done, 2 a version or a gate that is not known",
    ),
    "config write": (("seatrial config write scheduler.yaml --kubernetes-version 1.35",), DONE),
    "config expand": (("seatrial config expand scheduler.yaml", "seatrial config expand --output json"), DONE),
    "config validate": (("seatrial config validate scheduler.yaml",), "0 valid, 1 invalid, 2 the file cannot be read"),
    "verify golden": (
        ("seatrial verify golden recorded/kube-scheduler",),
        "0 all cases equal, 1 some differ, 2 no such directory or no cases",
    ),
    "bench api": (("seatrial bench api",), MEASURED),
    "bench ratios": (
        ("seatrial bench ratios --against-commit HEAD~10", "seatrial bench ratios --against-commit v0.1.0 --line Job"),
        MEASURED,
    ),
    "bench scenario": (("seatrial bench scenario",), MEASURED),
    "bench scheduler": (("seatrial bench scheduler",), MEASURED),
    "bench outside": (("seatrial bench outside --scheduler ./kube-scheduler --nodes 100 --pods 500",), MEASURED),
    "bench ui": (("seatrial bench ui", "seatrial bench ui --scale 0.1"), MEASURED),
    "bench volcano": (("seatrial bench volcano", "seatrial bench volcano --scale 0.1 --json"), MEASURED),
    "bench what-if": (("seatrial bench what-if", "seatrial bench what-if --nodes 126 --pods 900"), MEASURED),
}


def close_help(app: typer.Typer) -> None:
    """Give every command its examples and exit codes, and every group its commands by task."""
    app.info.cls = type("RootGroup", (HelpGroup,), {"tasks": GROUPS, "examples": ("seatrial init", EXAMPLE)})
    for group in app.registered_groups:
        group.cls = HelpGroup
    for name, command in commands_of(app):
        if command.callback is not None and command.callback.__doc__:
            # Lines of a paragraph are joined, else the terminal would break them twice.
            paragraphs = command.callback.__doc__.split("\n\n")
            command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        if name in CLOSINGS:
            command.cls = type("ClosedCommand", (HelpCommand,), {"closing": Closing(*CLOSINGS[name])})


def commands_of(app: typer.Typer, group: str = "") -> Iterator[tuple[str, CommandInfo]]:
    """Every command with its name, that of its group in front."""
    for command in app.registered_commands:
        name = command.name or (command.callback.__name__.replace("_", "-") if command.callback else "")
        yield f"{group} {name}".lstrip(), command
    for inner in app.registered_groups:
        if inner.typer_instance is not None:
            yield from commands_of(inner.typer_instance, f"{group} {inner.name}".lstrip())
