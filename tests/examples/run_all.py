"""Runs every example and keeps its result: `python run_all.py OUT [NAME…]`.

A process of its own, so that hash seed, time zone, language and working directory can differ between two runs.
"""

import runpy
import sys
from pathlib import Path
from typing import Any

from seatrial.api import Simulation
from seatrial.scenario.engine.controller_registry import Registry, load_controllers
from seatrial.scheduler.plugins.out_of_tree import load_plugins
from seatrial.volcano.config import read_conf

EXAMPLES = Path(__file__).parents[2] / "examples"
LARGE = {"demo"}
"""Run by `make demo`, too large to be run again in every test."""
DRAINED = {"job-durations"}
"""Run until no timer is left."""


def names() -> list[str]:
    return sorted(path.name for path in EXAMPLES.iterdir() if (path / "scenario.yaml").exists())


def configurations(name: str) -> list[Path | None]:
    """The scheduler configurations that lie beside an example; None is the default one."""
    return [*sorted((EXAMPLES / name).glob("scheduler*.yaml"))] or [None]


def simulation(name: str, config: Path | None, scenario: dict[str, Any] | None = None) -> Simulation:
    """An example with the controllers, plugins and snapshot that lie beside it; `scenario` in place of its own."""
    folder = EXAMPLES / name
    registry = Registry()
    if (folder / "controllers.py").exists():
        load_controllers([str(folder / "controllers.py")], registry)
    plugins = load_plugins([str(folder / "plugins.py")] if (folder / "plugins.py").exists() else [])
    source = scenario if scenario is not None else folder / "scenario.yaml"
    conf = folder / "volcano-scheduler.conf"
    volcano = read_conf(conf if conf.exists() else None)
    more: dict[str, Any] = {"snapshot": folder / "cluster.yaml"} if (folder / "cluster.yaml").exists() else {}
    return Simulation(source, config, plugins, drain=name in DRAINED, registry=registry, volcano_config=volcano, **more)


def run(name: str, out: Path) -> None:
    """Run one example with all configurations that lie beside it."""
    if (EXAMPLES / name / "drive.py").exists():
        runpy.run_path(str(EXAMPLES / name / "drive.py"))["main"](out / name)
        return
    for config in configurations(name):
        simulation(name, config).run().save(out / (name if config is None else f"{name}.{config.stem}"))


if __name__ == "__main__":
    target = Path(sys.argv[1])
    for chosen in sys.argv[2:] or [name for name in names() if name not in LARGE]:
        run(chosen, target)
