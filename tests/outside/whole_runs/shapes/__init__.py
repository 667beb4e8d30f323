"""The shapes, one module per subject."""

from tests.outside.whole_runs.shape import Shape
from tests.outside.whole_runs.shapes import (
    affinity,
    batches,
    claims,
    devices,
    extender_choices,
    extenders,
    feature_gates,
    nodes,
    pods,
    preemption,
    profiles,
    storage,
    taints,
    volumes,
)

ALL: tuple[Shape, ...] = (
    *affinity.SHAPES,
    *batches.SHAPES,
    *claims.SHAPES,
    *devices.SHAPES,
    *extender_choices.SHAPES,
    *extenders.SHAPES,
    *feature_gates.SHAPES,
    *nodes.SHAPES,
    *pods.SHAPES,
    *preemption.SHAPES,
    *profiles.SHAPES,
    *storage.SHAPES,
    *taints.SHAPES,
    *volumes.SHAPES,
)
