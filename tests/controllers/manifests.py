"""Manifests that the real controllers and ours are given: steps with what is done in each.

about: what is shown
nodes: 3                        how many plain nodes there are from the start
steps:
- create: [object, ...]
- patch: {kind: Deployment, name: web, body: {...}}     or selector: instead of name; subresource, type
- delete: {kind: Deployment, name: web, propagation: Foreground}
  quiet: 15s                    the step is over when nothing was written for so long (default 4s)
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seatrial.model import yaml_reader as yamls
from seatrial.model.durations import parse_duration
from seatrial.model.times import SECOND

GOLDEN = Path(__file__).parents[1] / "golden" / "controllers"
QUIET = 4 * SECOND
VERBS = ("create", "patch", "delete")
Document = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """One thing that is done, and how long it must then be quiet."""

    verb: str
    body: Any
    quiet: int


@dataclass(frozen=True)
class Manifest:
    """A play in steps."""

    name: str
    steps: tuple[Step, ...]

    @property
    def golden(self) -> Path:
        return GOLDEN / f"{self.name}.json"


def load_manifest(path: Path) -> Manifest:
    (document,) = yamls.load_all(path.read_text())
    nodes = [node(f"n{number}") for number in range(document.get("nodes", 1))]
    steps = [Step("create", nodes, SECOND)] if nodes else []
    for step in document["steps"]:
        verb = next((verb for verb in VERBS if verb in step), "wait")
        quiet = parse_duration(step["quiet"]) if "quiet" in step else QUIET
        steps.append(Step(verb, step.get(verb), quiet))
    return Manifest(path.stem, tuple(steps))


def all_manifests() -> list[Manifest]:
    return [load_manifest(path) for path in sorted((GOLDEN / "manifests").glob("*.yaml"))]


def node(name: str) -> Document:
    """A ready node with room for everything."""
    resources = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    condition = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": resources, "capacity": resources, "conditions": [condition]},
    }
