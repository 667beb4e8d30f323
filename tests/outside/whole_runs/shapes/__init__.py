"""The shapes, one module per subject."""

from tests.outside.whole_runs.shape import Shape
from tests.outside.whole_runs.shapes import (
    devices,
    extenders,
    nodes,
    pods,
    preemption,
    profiles,
    storage,
    taints,
    volumes,
)

ALL: tuple[Shape, ...] = (
    *devices.SHAPES,
    *extenders.SHAPES,
    *nodes.SHAPES,
    *pods.SHAPES,
    *preemption.SHAPES,
    *profiles.SHAPES,
    *storage.SHAPES,
    *taints.SHAPES,
    *volumes.SHAPES,
)
