"""Compares runs: numbers, moved pods, significance, verdict and thresholds."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.results.comparison.comparison import Comparison, Number, compare
    from seatrial.results.comparison.figures import figure
    from seatrial.results.comparison.moved import MovedGroup, common_suffix, moved_groups
    from seatrial.results.comparison.significance import Significance
    from seatrial.results.comparison.switched_off import FreedPool, freed_nodes
    from seatrial.results.comparison.thresholds import Threshold, read_thresholds
    from seatrial.results.comparison.verdict import verdicts
    from seatrial.results.comparison.wording import (
        SHOWN,
        as_document,
        as_junit,
        as_markdown,
        changes,
        failures,
        freed_document,
        freed_lines,
    )
    from seatrial.results.comparison.workloads import compared_workloads, workload_lines
else:
    __getattr__, __dir__ = lazy_exports(__name__)
