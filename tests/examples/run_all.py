"""Runs every example and keeps its result: `python run_all.py OUT [NAME…]`.

A process of its own, so that hash seed, time zone, language and working directory can differ between two runs.
"""

import runpy
import sys
from pathlib import Path

from seatrial.api import Simulation
from seatrial.scenario.registry import Registry, load_controllers
from seatrial.scheduler.user_plugins import load_plugins

EXAMPLES = Path(__file__).parents[2] / "examples"
LARGE = {"demo"}
"""Run by `make demo`, too large to be run again in every test."""


def names() -> list[str]:
    return sorted(path.name for path in EXAMPLES.iterdir() if (path / "scenario.yaml").exists())


def run(name: str, out: Path) -> None:
    """Run one example with the controllers, plugins and configurations that lie beside it."""
    folder = EXAMPLES / name
    if (folder / "drive.py").exists():
        runpy.run_path(str(folder / "drive.py"))["main"](out / name)
        return
    registry = Registry()
    if (folder / "controllers.py").exists():
        load_controllers([str(folder / "controllers.py")], registry)
    plugins = load_plugins([str(folder / "plugins.py")] if (folder / "plugins.py").exists() else [])
    for config in sorted(folder.glob("scheduler*.yaml")) or [None]:
        simulation = Simulation(folder / "scenario.yaml", config, plugins, drain="job" in name, registry=registry)
        simulation.run().save(out / (name if config is None else f"{name}.{config.stem}"))


if __name__ == "__main__":
    target = Path(sys.argv[1])
    for chosen in sys.argv[2:] or [name for name in names() if name not in LARGE]:
        run(chosen, target)
