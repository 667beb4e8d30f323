"""The shapes, one module per subject."""

from tests.outside.whole_runs.shape import Shape
from tests.outside.whole_runs.shapes import devices, extenders, taints, volumes

ALL: tuple[Shape, ...] = (*taints.SHAPES, *extenders.SHAPES, *devices.SHAPES, *volumes.SHAPES)
