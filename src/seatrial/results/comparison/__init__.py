"""Compares runs: numbers, moved pods, significance, verdict and thresholds."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.results.comparison.comparison import Comparison, Number, compare
    from seatrial.results.comparison.figures import figure
    from seatrial.results.comparison.significance import Significance
    from seatrial.results.comparison.thresholds import Threshold
    from seatrial.results.comparison.verdict import verdicts
    from seatrial.results.comparison.wording import SHOWN, as_document, as_junit, as_markdown, changes, failures

__all__ = [
    "SHOWN",
    "Comparison",
    "Number",
    "Significance",
    "Threshold",
    "as_document",
    "as_junit",
    "as_markdown",
    "changes",
    "compare",
    "failures",
    "figure",
    "verdicts",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Comparison": "comparison",
            "Number": "comparison",
            "SHOWN": "wording",
            "Significance": "significance",
            "Threshold": "thresholds",
            "as_document": "wording",
            "as_junit": "wording",
            "as_markdown": "wording",
            "changes": "wording",
            "compare": "comparison",
            "failures": "wording",
            "figure": "figures",
            "verdicts": "verdict",
        },
    )
