"""Whole runs of many shapes: a real kube-scheduler and ours do the same, write for write, in every version."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from seatrial.scheduler.versions import VERSIONS, Version
from tests.outside.churn import RealScheduler
from tests.outside.conftest import built
from tests.outside.processes import Serve, free_port
from tests.outside.whole_runs.playing import Stage
from tests.outside.whole_runs.shape import Shape, plays_in
from tests.outside.whole_runs.shapes import ALL
from tests.outside.whole_runs.sides import OurSide, ServedSide, extender_for, gates_of

ALL_SHAPES_OF = VERSIONS["1.36"]
"""The version of the real programs of all other tests."""
QUICK = [shape for shape in ALL if shape.is_quick]
FIRST = ("one preemptor and two victims", "pods that were kept away by anti-affinity come back")
"""The shapes that every change is landed with in every version."""
TIES = frozenset(
    {
        "two profiles with scores of their own",
        "an extender that is sent the nodes",
        "scheduling gates are taken away",
        "taint updates retry pods that other plugins rejected",
    }
)
"""Shapes in which nodes tie."""


def listed(shapes: Iterable[Shape]) -> list[ParameterSet]:
    """The shapes as parameters; all but a few are for `make test-outside` alone."""
    return [
        pytest.param(shape, id=shape.name.replace(" ", "-"), marks=() if shape.is_quick else pytest.mark.long)
        for shape in shapes
    ]


def of_other_versions() -> Iterator[ParameterSet]:
    """The quick shapes for each other version, where it has their gates and one right answer."""
    for version in VERSIONS.values():
        for shape in QUICK:
            is_random = version.rules.throws_dice_for_ties and shape.name in TIES
            if version is not ALL_SHAPES_OF and not is_random and plays_in(shape, version):
                name = f"{version.minor}-{shape.name.replace(' ', '-')}"
                is_first = shape.name in FIRST
                yield pytest.param(version, shape, id=name, marks=() if is_first else pytest.mark.long)


@pytest.mark.parametrize("shape", listed(shape for shape in ALL if plays_in(shape, ALL_SHAPES_OF)))
def test_both_schedulers_do_the_same(shape: Shape, programs: Path, tmp_path: Path) -> None:
    """Equal after every step: placements, victims, nominations, attempts per pod, conditions and events."""
    play(shape, programs / "kube-scheduler", tmp_path, ALL_SHAPES_OF)


@pytest.mark.parametrize(("version", "shape"), list(of_other_versions()))
def test_both_schedulers_of_another_version_do_the_same(version: Version, shape: Shape, tmp_path: Path) -> None:
    program = built("kube-scheduler", version=version.release) / "kube-scheduler"
    play(shape, program, tmp_path, version)


def play(shape: Shape, program: Path, folder: Path, version: Version) -> None:
    flags = ("--no-scheduler", "--controllers", "", "--insecure", "--kubernetes-version", version.minor)
    place, gates = folder / "real", gates_of(shape, version)
    with (
        extender_for(shape.extender, shape.config) as config,
        Serve(folder / "state", *flags) as server,
        RealScheduler(program, server.kubeconfig, place, free_port(), config, gates, verbosity=3) as scheduler,
        closing(ServedSide(server.url, scheduler, shape.backing_off)) as real,
        closing(OurSide(shape, config, version)) as ours,
    ):
        Stage(shape, real, ours).play()
