"""`seatrial bench ratios`: how much faster this version is than an older one, in CPU-seconds of one sitting.

Each line runs a command of both versions in turns, so that a noisy machine slows both, and compares the least
CPU-seconds that each needed, as kube-scheduler v1.36, which all of them simulate. Lines with a unit of their own are
about one version alone: how it grows, or what it takes.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from seatrial.bench import ratio_scenarios
from seatrial.bench.figures import Figure, all_met
from seatrial.bench.older_tree import VCSIMCTL, Tree, this_tree, tree_of_commit, tree_of_wheel
from seatrial.bench.oracle import upstream_rate
from seatrial.bench.scale import Scale
from seatrial.bench.scheduler import AGAINST
from seatrial.bench.workloads import shipped_workloads
from seatrial.model.errors import ConfigError
from seatrial.scheduler.evaluator import chosen_kernel

NODES, PODS, STEPS = 5_000, 20_000, 100
DEMO = Path(__file__).parents[3] / "examples" / "demo" / "scenario.yaml"
Cost = Callable[[Tree, Path, float], float]
"""What a version pays for a line, in a folder of its own, for a share of the size: CPU-seconds, or bytes."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table."""

    name: str
    cost: Cost
    must: float | None = None
    goal: float | None = None
    absolute: str = ""
    """The unit if the line is about this version alone: how it grows, or what it takes."""
    against_upstream: bool = False
    """Whether this version is compared with kube-scheduler itself, and not with the older one."""
    kernel: bool = False
    """Whether this version runs with its compiled kernel; all other lines are about pure Python."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("ratios")(bench_ratios)


def bench_ratios(
    against_commit: Annotated[str, typer.Option(help="A commit of this repository to compare with.")] = "",
    against_wheel: Annotated[Path | None, typer.Option(help="A wheel to compare with.", exists=True)] = None,
    line: Annotated[list[str] | None, typer.Option(help="Only lines whose name has this text (repeatable).")] = None,
    scale: Scale = 1.0,
    rounds: Annotated[int, typer.Option(help="Runs of each version; the least counts.", min=1)] = 2,
    oracle: Annotated[
        Path | None, typer.Option(help="A built schedoracle, for lines about kube-scheduler.", exists=True)
    ] = None,
) -> None:
    """Compare whole runs and the scheduler with an older version, in turns."""
    if bool(against_commit) == (against_wheel is not None):
        raise ConfigError("", "--against-commit", "expected a commit or --against-wheel, and not both")
    chosen = runnable(lines_with(line or [""]), oracle)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="seatrial-bench-") as directory:
        folder = Path(directory)
        older = tree_of_wheel(against_wheel, folder) if against_wheel else tree_of_commit(against_commit, folder)
        older = replace(older, oracle=oracle)
        for figure in measured(chosen, older, this_tree(), folder, scale, rounds):
            figures.append(figure)
            typer.echo(figure.text())
    if not all_met(figures):
        raise typer.Exit(1)


def lines_with(texts: list[str]) -> list[Line]:
    """The lines whose names have one of these texts; each text has to be in some name."""
    for text in texts:
        if not any(text in one.name for one in LINES):
            names = "; ".join(one.name for one in LINES)
            raise ConfigError("", "--line", f"{text}: expected part of one of these names: {names}")
    return [one for one in LINES if any(text in one.name for text in texts)]


def runnable(lines: list[Line], oracle: Path | None = None) -> list[Line]:
    """The lines that can be run; it is said of each line why it cannot."""
    left: list[Line] = []
    for one in lines:
        why = ""
        if one.kernel and chosen_kernel() is None:
            why = "no kernel is installed or it is off; `make kernel` builds it"
        elif one.against_upstream and oracle is None:
            why = "no --oracle is given"
        if why:
            typer.echo(f"SKIPPED: {one.name}: {why}", err=True)
        else:
            left.append(one)
    if not left:
        raise ConfigError("", "--line", "expected a line that runs without a kernel and without --oracle")
    return left


def measured(lines: list[Line], older: Tree, this: Tree, folder: Path, scale: float, rounds: int) -> Iterator[Figure]:
    """The figures of some lines, each as soon as it is known."""
    own = folder / "run"
    for one in lines:
        trees = (replace(older, kernel="auto"), replace(this, kernel="on")) if one.kernel else (older, this)
        costs: tuple[list[float], list[float]] = [], []
        for _ in range(rounds):
            for tree, known in zip(trees, costs, strict=True):
                own.mkdir()
                known.append(one.cost(tree, own, scale))
                shutil.rmtree(own)  # the results of the largest runs take tens of gigabytes
        before, now = map(min, costs)
        if one.absolute:
            yield Figure(f"{one.name} ({older.name}: {before:.2f})", now, one.absolute, one.must, one.goal)
        else:
            ratio = before / now
            yield Figure(f"{one.name} ({before:.4g} to {now:.4g})", ratio, "x", one.must, one.goal, more_is_better=True)


def _run(tree: Tree, folder: Path, scenario: Path, *more: str) -> float:
    version = tree.version_option("run")
    seconds, _ = tree.run("run", str(scenario), "--out", str(folder / "out"), "--quiet", *version, *more)
    return seconds


def whole_run(*more: str, nodes: int = NODES, pods: int = PODS) -> Cost:
    """CPU-seconds of `seatrial run`."""

    def cost(tree: Tree, folder: Path, scale: float) -> float:
        scenario = ratio_scenarios.waves(folder / "s.json", _part(nodes, scale), _part(pods, scale), STEPS)
        return _run(tree, folder, scenario, *more)

    return cost


def demo(tree: Tree, folder: Path, scale: float) -> float:
    """CPU-seconds of the commands of `make demo`."""
    ran = _run(tree, folder, DEMO)
    explained, _ = tree.run("explain", str(folder / "out"), "urgent", "--attempt", "1")
    return ran + explained


def workload(name: str) -> Cost:
    """CPU-seconds a pod of the scheduler alone."""

    def cost(tree: Tree, folder: Path, scale: float) -> float:
        version = tree.version_option("bench", "scheduler")
        _, printed = tree.run("bench", "scheduler", "--workload", name, "--scale", str(scale), "--json", *version)
        return 1 / float(json.loads(printed)[0]["measured"])

    return cost


def anti(tree: Tree, folder: Path, scale: float) -> float:
    """CPU-seconds a pod that keeps away from those of its group: of kube-scheduler in place of an older version."""
    if tree.oracle is None:
        return workload("anti")(tree, folder, scale)
    (known,) = (one for one in shipped_workloads(AGAINST) if one.name == "anti")
    return 1 / upstream_rate(tree.oracle, known.scaled(scale))


def gangs(tree: Tree, folder: Path, scale: float) -> float:
    """CPU-seconds of `vcsimctl run` with 100 gangs of 100 pods."""
    test, cluster = ratio_scenarios.gangs(folder, _part(NODES, scale), _part(100, scale), 100)
    files = ("--test", str(test), "--config", str(cluster), "--out", str(folder / "out"))
    return tree.run("run", "--clock", "virtual", *files, command=VCSIMCTL)[0]


def memory_of_serve(tree: Tree, folder: Path, scale: float) -> float:
    """Megabytes of a default server."""
    least = ("--creates", "5", "--listed", "1", "--watchers", "1", "--events", "1", "--stored", "0")
    size = ("--nodes", str(_part(NODES, scale)), "--pods", str(_part(10 * NODES, scale)))
    _, printed = tree.run("bench", "api", *least, *size)
    (line,) = (one for one in printed.splitlines() if one.startswith("memory of default serve"))
    return float(line.split(": ")[1].split()[0].replace(",", ""))


def size_growth(tree: Tree, folder: Path, scale: float) -> float:
    """CPU a pod of 100,000 nodes and 1,000,000 pods over that of a hundredth of both."""
    few, many = (
        whole_run("--record", "summary", nodes=100_000, pods=1_000_000)(tree, folder, scale * share)
        for share in (0.01, 1)
    )
    return many / few / 100


def job_growth(tree: Tree, folder: Path, scale: float) -> float:
    """CPU a pod of a Job of 10,000 over that of a Job of 1,000, without what an empty run needs."""
    few, many = _part(1_000, scale), _part(10_000, scale)
    sizes = {size: ratio_scenarios.one_job(folder / f"job-{size}.json", size) for size in (1, few, many)}
    least, small, large = (_run(tree, folder, path, "--no-report") for path in sizes.values())
    return ((large - least) / many) / (max(small - least, 1e-6) / few)


def result_growth(tree: Tree, folder: Path, scale: float) -> float:
    """Bytes of result.json after 40 steps over those after 10, with pods that stay pending."""
    sizes = []
    for steps in (10, 40):
        _run(tree, folder, ratio_scenarios.pending(folder / f"{steps}.json", _part(2_000, scale), steps), "--no-report")
        sizes.append((folder / "out" / "result.json").stat().st_size)
    return sizes[1] / sizes[0]


def _part(number: int, scale: float) -> int:
    return max(1, round(number * scale))


SUMMARY = ("--record", "summary")
SAME = 0.97
"""The ratio of lines for which no gain is promised."""
LINES = (
    Line("whole run, default flags", whole_run(), 1.4, 3),
    Line("whole run, summary", whole_run(*SUMMARY), 1.4, 2.5),
    Line("demo", demo, SAME),
    Line("SchedulingBasic", workload("SchedulingBasic"), SAME),
    Line("SchedulingBasic50000", workload("SchedulingBasic50000"), SAME),
    Line("TopologySpreading", workload("TopologySpreading"), SAME),
    Line("SchedulingPodAffinity", workload("SchedulingPodAffinity"), SAME),
    Line("SchedulingPodAntiAffinity", workload("SchedulingPodAntiAffinity"), SAME),
    Line("anti, over kube-scheduler itself", anti, 12, 30, against_upstream=True),
    Line("PreemptionAsync", workload("PreemptionAsync"), 1.8, 4),
    Line("PreemptionBasic: every pod preempts", workload("PreemptionBasic"), 1.8, 4),
    Line("one Job, CPU a pod of 10,000 over 1,000", job_growth, 1.2, absolute="times"),
    Line("result.json of 2,000 pending pods, 40 steps over 10", result_growth, 4.5, 2, absolute="times"),
    Line("vcsimctl run, 100 gangs of 100, 5,000 nodes", gangs, 1.5, 3),
    Line("memory of default serve, 5,000 nodes, 50,000 pods", memory_of_serve, 600, 450, absolute="MB"),
    Line("whole run, summary, with kernel", whole_run(*SUMMARY), 1.6, 4, kernel=True),
    Line("SchedulingBasic with kernel", workload("SchedulingBasic"), SAME, kernel=True),
    Line("SchedulingBasic50000 with kernel", workload("SchedulingBasic50000"), SAME, kernel=True),
    Line("TopologySpreading with kernel", workload("TopologySpreading"), SAME, kernel=True),
    Line("SchedulingPodAffinity with kernel", workload("SchedulingPodAffinity"), SAME, kernel=True),
    Line("SchedulingPodAntiAffinity with kernel", workload("SchedulingPodAntiAffinity"), SAME, kernel=True),
    Line("100,000 nodes, 20,000 pods", whole_run(*SUMMARY, nodes=100_000), SAME),
    Line("50,000 nodes, 200,000 pods", whole_run(*SUMMARY, nodes=50_000, pods=200_000), 2.5, 10),
    Line("CPU a pod, 100,000 nodes and 1,000,000 pods over a hundredth", size_growth, 1.2, 1, absolute="times"),
)
