"""How full each node is."""

import numpy as np
import polars as pl

from seatrial.results.facts import HELD, OFFERS
from seatrial.results.measure import measure
from seatrial.results.run import Run
from seatrial.results.usage import allocatable, requested


@measure("node_utilisation", unit="%", needs=(*HELD, OFFERS))
def node_utilisation(run: Run) -> pl.DataFrame:
    """Requested share of every node, step by step.

    One row for each step, node that is there at its end, and resource that the node offers: requested, allocatable and
    their quotient in percent.
    """
    names = np.array([node.name for node in run.nodes])
    majors = np.array([step.major for step in run.steps])
    frames = []
    for resource in run.resources:
        used, offered = requested(run, resource), allocatable(run, resource)
        steps, nodes = np.nonzero(offered)
        frames.append(
            pl.DataFrame(
                {
                    "step": majors[steps],
                    "node": names[nodes],
                    "resource": pl.Series([resource], dtype=pl.String).new_from_index(0, len(steps)),
                    "requested": used[steps, nodes],
                    "allocatable": offered[steps, nodes],
                    "rate": 100.0 * used[steps, nodes] / offered[steps, nodes],
                }
            )
        )
    return pl.concat(frames)
