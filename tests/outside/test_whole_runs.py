"""Whole runs of many shapes: a real kube-scheduler v1.36.3 and ours do the same, write for write."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.outside.churn import RealScheduler
from tests.outside.processes import Serve, free_port
from tests.outside.whole_runs.playing import Stage
from tests.outside.whole_runs.shape import Shape
from tests.outside.whole_runs.shapes import ALL
from tests.outside.whole_runs.sides import OurSide, ServedSide, extender_for


def listed(shapes: Iterable[Shape]) -> list[ParameterSet]:
    """The shapes as parameters; all but a few are for `make test-outside` alone."""
    return [
        pytest.param(shape, id=shape.name.replace(" ", "-"), marks=() if shape.is_quick else pytest.mark.long)
        for shape in shapes
    ]


@pytest.mark.parametrize("shape", listed(ALL))
def test_both_schedulers_do_the_same(shape: Shape, programs: Path, tmp_path: Path) -> None:
    """Equal after every step: placements, victims, nominations, attempts per pod, conditions and events."""
    with (
        extender_for(shape.extender, shape.config) as config,
        Serve(tmp_path / "state", "--no-scheduler", "--controllers", "", "--insecure") as server,
        RealScheduler(
            programs / "kube-scheduler",
            server.kubeconfig,
            tmp_path / "real",
            free_port(),
            config,
            shape.gates,
            verbosity=3,
        ) as scheduler,
        closing(ServedSide(server.url, scheduler, shape.backing_off)) as real,
        closing(OurSide(shape, config)) as ours,
    ):
        Stage(shape, real, ours).play()
