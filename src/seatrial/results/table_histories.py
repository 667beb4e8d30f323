"""Reads the lifecycles of a run from the columns of its timeline.

Only the rows that can begin, change or end a lifecycle are followed one by one. A write of a pod's status leaves its
spec alone, so it counts only where it ends the pod. Steps and attempts are counted by columns, and the last written
form of a pod is read when it is asked for.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property, partial

import polars as pl

from seatrial.results.entries import READ_OF_WRITES, Entry, entries_of_table, writes_of_table
from seatrial.results.lifecycle_reader import FINISHED, Histories, tell
from seatrial.results.lifecycles import PodLife
from seatrial.scheduler import WAITING

ATTEMPT = pl.col("entry") == "attempt"
PREEMPTS = ATTEMPT & (pl.col("victims").list.len().fill_null(0) > 0)
KEY = ("namespace", "name")
LIFE = "life"


def histories_of_table(table: pl.LazyFrame) -> Histories:
    """Follow every node and pod through the rows of a run."""
    found = tell(writes_of_table(table, _changes_a_lifecycle()))
    found.steps = _steps(table)
    found.attempts = _Attempts(table, _count_attempts(table, found.pods))
    written = _LastWritten(table, found.pods)
    for place, pod in enumerate(found.pods):
        pod.written = partial(written.of, place)
    return found


def pods_around(table: pl.LazyFrame, key: str) -> list[PodLife]:
    """The pods of one name, and those that they preempted, without a walk over all others."""
    of_key = ATTEMPT & (pl.concat_str("namespace", pl.lit("/"), "name") == key)
    victims = table.filter(of_key).select(pl.col("victims").explode()).collect()["victims"].drop_nulls()
    names = sorted({key, *victims})
    concerned = (pl.col("kind") == "Pod") & pl.concat_str("namespace", pl.lit("/"), "name").is_in(names)
    rows = table.select(*READ_OF_WRITES, "subresource", "outcome", "victims").filter(concerned | PREEMPTS)
    return histories_of_table(rows.collect().lazy()).pods


def _changes_a_lifecycle() -> pl.Expr:
    data, is_pod = pl.col("object"), pl.col("kind") == "Pod"
    is_status = pl.col("subresource").eq_missing("status")
    # Nothing else is searched: the objects are most of the table.
    may_have_finished = pl.when(is_pod & is_status).then(data).str.contains_any([*FINISHED]).fill_null(value=False)
    keeps_spec = is_status | (pl.col("entry") == "unscheduled")
    of_pod = ~keeps_spec | data.is_null() | may_have_finished
    return (pl.col("kind") == "Node") | (is_pod & (PREEMPTS | (~ATTEMPT & of_pod)))


def _steps(table: pl.LazyFrame) -> dict[int, tuple[int, int]]:
    """The last minor step and the time of the first entry of each step.

    An Event is neither the first entry of a step nor does it begin a minor step.
    """
    rows = table.filter(pl.col("kind").ne_missing("Event")).group_by("major", maintain_order=True)
    found = rows.agg(pl.col("minor").max(), pl.col("time").dt.epoch("us").first()).collect()
    return {major: (minor, time) for major, minor, time in found.iter_rows()}


def _count_attempts(table: pl.LazyFrame, pods: Sequence[PodLife]) -> int:
    """Note the attempts at each pod; their number. One that Permit or PreBind held goes on in the next at its pod."""
    rows = table.filter(ATTEMPT).select("sequence", *KEY, "outcome").collect()
    if (rows["outcome"] == WAITING).any():
        goes_on = (pl.col("outcome").shift(1).over(KEY) == WAITING).fill_null(value=False)
        rows = rows.with_columns(new=~goes_on)
    else:
        rows = rows.with_columns(new=pl.lit(value=True))
    counts = _with_lives(rows, pods).group_by(LIFE).agg(pl.col("new").sum())
    for place, number in counts.iter_rows():
        pods[place].attempts, pods[place].tried = number, True
    return int(rows["new"].sum())


def _with_lives(rows: pl.DataFrame, pods: Sequence[PodLife]) -> pl.DataFrame:
    """The rows about pods that exist at that moment, each with the place of its pod."""
    lives = pl.DataFrame(
        {
            "namespace": [pod.namespace for pod in pods],
            "name": [pod.name for pod in pods],
            "sequence": pl.Series([pod.from_row for pod in pods], dtype=pl.Int64),
            "to_row": pl.Series([pod.to_row for pod in pods], dtype=pl.Int64),
        },
        schema_overrides=dict.fromkeys(KEY, pl.String),
    ).with_row_index(LIFE)
    found = rows.join_asof(lives.set_sorted("sequence"), on="sequence", by=KEY, check_sortedness=False)
    return found.filter(
        pl.col(LIFE).is_not_null() & (pl.col("to_row").is_null() | (pl.col("sequence") < pl.col("to_row")))
    )


class _Attempts(Sequence[Entry]):
    """Every attempt; most readers ask for their number alone."""

    def __init__(self, table: pl.LazyFrame, number: int) -> None:
        self._table = table
        self._number = number

    def __len__(self) -> int:
        return self._number

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._all)

    def __getitem__(self, place: int) -> Entry:  # type: ignore[override]
        return self._all[place]

    @cached_property
    def _all(self) -> Sequence[Entry]:
        return tell(entries_of_table(self._table, ATTEMPT)).attempts


class _LastWritten:
    """Pods as they were last written, as JSON; read on first use."""

    def __init__(self, table: pl.LazyFrame, pods: Sequence[PodLife]) -> None:
        self._table = table
        self._pods = pods

    def of(self, place: int) -> str:
        return self._objects.get(place, "")

    @cached_property
    def _objects(self) -> dict[int, str]:
        is_written = (pl.col("kind") == "Pod") & ~pl.col("entry").is_in(["attempt", "delete"])
        rows = self._table.filter(is_written & pl.col("object").is_not_null()).select("sequence", *KEY).collect()
        last = _with_lives(rows, self._pods).group_by(LIFE).agg(pl.col("sequence").last())
        objects = self._table.filter(pl.col("sequence").is_in(last["sequence"].implode())).select("sequence", "object")
        return dict(last.join(objects.collect(), on="sequence").select(LIFE, "object").iter_rows())
