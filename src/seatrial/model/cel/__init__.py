"""The Common Expression Language with Kubernetes' libraries."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.model.cel.costs import Meter
    from seatrial.model.cel.errors import CelError, CelSyntaxError
    from seatrial.model.cel.estimate import Estimator, Known
    from seatrial.model.cel.evaluator import Program, compile_expression
    from seatrial.model.cel.kubernetes import CelQuantity, parse_semver
    from seatrial.model.cel.sizes import MOST
    from seatrial.model.cel.times import duration_of, timestamp_of
    from seatrial.model.cel.values import NO_OVERLOAD, NONE, DefaultMap, Optional, type_of

__all__ = [
    "MOST",
    "NONE",
    "NO_OVERLOAD",
    "CelError",
    "CelQuantity",
    "CelSyntaxError",
    "DefaultMap",
    "Estimator",
    "Known",
    "Meter",
    "Optional",
    "Program",
    "compile_expression",
    "duration_of",
    "parse_semver",
    "timestamp_of",
    "type_of",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "CelError": "errors",
            "CelQuantity": "kubernetes",
            "CelSyntaxError": "errors",
            "DefaultMap": "values",
            "Estimator": "estimate",
            "Known": "estimate",
            "MOST": "sizes",
            "Meter": "costs",
            "NONE": "values",
            "NO_OVERLOAD": "values",
            "Optional": "values",
            "Program": "evaluator",
            "compile_expression": "evaluator",
            "duration_of": "times",
            "parse_semver": "kubernetes",
            "timestamp_of": "times",
            "type_of": "values",
        },
    )
