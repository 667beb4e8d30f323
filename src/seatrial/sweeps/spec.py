"""The file of a sweep: what is run, what varies, and which numbers decide.

```yaml
scenarios: [scenario.yaml]
schedulerConfigs: [default, scheduler.binpack.yaml]
seeds: 3
axes:
- name: nodes
  scenario: spec.generators[id=node].count
  values: [10, 20, 40]
- name: weight
  config: profiles[0].plugins.multiPoint.enabled[name=NodeResourcesFit].weight
  range: {from: 1, to: 10}
search: {random: 20}
objectives: [nodes_used, balance_cpu]
```
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from seatrial.model.errors import ConfigError, SeatrialError
from seatrial.model.yaml_reader import load
from seatrial.scheduler.versions import DEFAULT as VERSION
from seatrial.scheduler.versions import Version, find_version
from seatrial.store.input_files import read_input
from seatrial.store.snapshots import UNBIND_NONE, Unbind, UnbindOrder
from seatrial.sweeps.field_path import Part, parse_path

DEFAULT = "default"
"""The scheduler configuration without a file."""
OWN_COLUMNS = ("point", "scenario", "schedulerConfig", "seed", "phase", "message", "tries")
"""Columns of the table that are no numbers of a run; a measure cannot have their names."""
Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Seed = Annotated[int, msgspec.Meta(ge=0)]
Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z][\w-]*$")]


class _Fields(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    pass


class Range(_Fields):
    """Numbers between two bounds, both included; whole numbers where both bounds are."""

    start: int | float = msgspec.field(name="from")
    end: int | float = msgspec.field(name="to")
    step: Annotated[float, msgspec.Meta(gt=0)] | Annotated[int, msgspec.Meta(gt=0)] | None = None


class Axis(_Fields):
    """One value that varies: a field of the scheduler's configuration or of the scenario."""

    name: Name
    config: str = ""
    scenario: str = ""
    values: list[Any] = []
    range: Range | None = None

    @property
    def path(self) -> list[Part]:
        return parse_path(self.config or self.scenario)


class Search(_Fields):
    """A random search: a number of settings, each with every seed."""

    random: Count
    seed: Seed = 0


class Objective(_Fields):
    """A number that a good point has high or low; empty where its measure says which."""

    number: str
    better: Literal["higher", "lower", ""] = ""


class SweepSpec(_Fields):
    """The whole file."""

    scenarios: list[str] = []
    """Empty: the snapshot alone is played."""
    snapshot: str = ""
    unbind: Unbind = UNBIND_NONE
    unbind_order: UnbindOrder = "created"
    prices: str = ""
    volcano: bool = False
    """Whether Volcano schedules, too."""
    scheduler_configs: Annotated[list[str], msgspec.Meta(min_length=1)] = msgspec.field(
        default_factory=lambda: [DEFAULT]
    )
    seeds: Count | list[Seed] = 1
    tie_break: Literal["upstream", "name", "random"] | None = None
    plugins: list[str] = []
    kubernetes_version: str = ""
    """The minor version of kube-scheduler; empty: that of the snapshot's nodes, else the default one."""
    axes: list[Axis] = []
    search: Literal["grid"] | Search = "grid"
    objectives: Annotated[list[str | Objective], msgspec.Meta(max_length=4)] = []

    @property
    def version(self) -> Version:
        """The version of kube-scheduler that decides."""
        return find_version(self.kubernetes_version) if self.kubernetes_version else VERSION

    @property
    def all_seeds(self) -> list[int]:
        return list(range(self.seeds)) if isinstance(self.seeds, int) else list(self.seeds)

    @property
    def ties(self) -> Literal["upstream", "name", "random"]:
        """How ties are settled: several seeds are only different runs where ties are random."""
        return self.tie_break or ("random" if len(self.all_seeds) > 1 else "upstream")

    @property
    def all_objectives(self) -> list[Objective]:
        return [Objective(each) if isinstance(each, str) else each for each in self.objectives]


NOT_A_SWEEP = {
    "Scenario": "is a Scenario, which `seatrial run` plays; a sweep names it: `scenarios: [scenario.yaml]`, "
    "with axes and objectives",
    "SchedulerSimulation": "is a SchedulerSimulation, which `seatrial simulate` runs",
    "KubeSchedulerConfiguration": "is a scheduler configuration; a sweep names it: "
    "`schedulerConfigs: [scheduler.yaml]`",
}
"""What a document of another kind is for, by its kind."""


def read_sweep(path: Path) -> SweepSpec:
    """Read the file of a sweep; ConfigError names the field that is wrong."""
    try:
        document = load(read_input(path))
        if isinstance(document, dict) and document.get("kind") in NOT_A_SWEEP:
            raise ConfigError(str(path), "kind", NOT_A_SWEEP[document["kind"]])
        spec = msgspec.convert(document, SweepSpec)
    except OSError as error:
        raise ConfigError(str(path), "", f"cannot be read: {error.strerror or error}") from error
    except msgspec.ValidationError as error:
        why, _, where = str(error).partition(" - at `$")
        raise ConfigError(str(path), where.rstrip("`").lstrip("."), why) from error
    except ConfigError:
        raise
    except (SeatrialError, ValueError) as error:
        raise ConfigError(str(path), "", " ".join(str(error).split())) from error
    for field, why in _problems(spec):
        raise ConfigError(str(path), field, why)
    return spec


def _problems(spec: SweepSpec) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if not (spec.scenarios or spec.snapshot):
        found.append(("scenarios", "expected Scenario files, a snapshot, or both"))
    if not spec.snapshot and (spec.unbind != UNBIND_NONE or spec.prices):
        found.append(("snapshot", "is required where unbind or prices are given"))
    names = [axis.name for axis in spec.axes]
    for place, axis in enumerate(spec.axes):
        field = f"axes[{place}]"
        if names.count(axis.name) > 1:
            found.append((f"{field}.name", f"{axis.name} is the name of two axes"))
        if bool(axis.config) == bool(axis.scenario):
            found.append((field, "expected either config or scenario: the path of the field that varies"))
        elif problem := _path_problem(axis):
            found.append((field, problem))
        if bool(axis.values) == (axis.range is not None):
            found.append((field, "expected either values or range"))
        elif axis.range is not None and axis.range.start > axis.range.end:
            found.append((f"{field}.range", "expected from to be at most to"))
        elif axis.range is not None and axis.range.step is None and spec.search == "grid":
            found.append((f"{field}.range.step", "is required for a grid; `search: {random: N}` needs none"))
    for field, listed in (("scenarios", spec.scenarios), ("schedulerConfigs", spec.scheduler_configs)):
        found += [(field, f"{each} is listed twice") for each in sorted({e for e in listed if listed.count(e) > 1})]
    if not spec.all_seeds or len(set(spec.all_seeds)) < len(spec.all_seeds):
        found.append(("seeds", "expected a count, or a list of seeds without repetition"))
    numbers = [objective.number for objective in spec.all_objectives]
    if len(set(numbers)) < len(numbers):
        found.append(("objectives", "a number is listed twice"))
    found += [("objectives", f"{name} is not a number of a run") for name in numbers if name in OWN_COLUMNS]
    return found


def _path_problem(axis: Axis) -> str:
    try:
        parse_path(axis.config or axis.scenario)
    except ValueError as error:
        return str(error)
    return ""
