"""The shapes, one module per subject."""

from tests.outside.whole_runs.shape import Shape
from tests.outside.whole_runs.shapes import taints

ALL: tuple[Shape, ...] = (*taints.SHAPES,)
