"""Volcano's queues over time: what each one held, deserved, was guaranteed and could have, session by session."""

import polars as pl

from seatrial.results.facts import TIMES, WRITES
from seatrial.results.measure import measure
from seatrial.results.run import Run
from seatrial.results.volcano.jobs import MICROSECONDS
from seatrial.results.volcano.queues import AMOUNTS, queue_moments

SCHEMA = {
    "queue": pl.String,
    "parent": pl.String,
    "time_s": pl.Float64,
    "resource": pl.String,
    **dict.fromkeys(AMOUNTS, pl.Float64),
    "share": pl.Float64,
    "overused": pl.Boolean,
}


@measure("volcano_queues", needs=(WRITES, TIMES))
def volcano_queues(run: Run) -> pl.DataFrame:
    """One row for each resource of a queue whenever a session left any of its amounts changed.

    `time_s` counts from the first entry of the run; a row holds until the next one of the queue. Under proportion and
    capacity the amounts are those the plugin works with (`capability` is what the queue can really get, `inqueue` what
    is kept free for jobs that were let in, `share` the largest part of what it deserves that it holds, `overused`
    whether it gets nothing more, under capacity whether others may reclaim from it); without them they are those of
    the spec. Null: none, or no limit. cpu in cores, memory in bytes. Empty where Volcano takes no part.
    """
    begin = run.steps[0].time if run.steps else 0
    rows = [
        (
            moment.queue, moment.parent, (moment.time - begin) / MICROSECONDS, resource,
            *(moment.amounts(what).get(resource) for what in AMOUNTS), moment.share, moment.is_overused,
        )
        for moment in queue_moments(run)
        for resource in moment.resources
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
