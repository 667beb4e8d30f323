"""The columns of `timeline.parquet`: one row per write, attempt or other entry, in order.

A row is a write (`create`, `patch`, `delete`, `done` are operations and have an id; `status` and `write` are the
others), an attempt of a scheduler (`attempt`), a judgement at the end of scheduling (`unscheduled`), or what a session
of Volcano said about a PodGroup that waits or about a Queue (`session`, with its own JSON in `object`). Columns that do
not apply are null. Cells of an attempt are lists: `nodes` in the order of the search, `verdicts` parallel to it
(0: passed), and for `feasible_nodes` the scores, plugin after plugin. Numbers in `nodes`, `feasible_nodes`,
`verdicts` (minus one), `filter_plugins` and `score_plugins` count in the lists that the file's metadata holds
under `DICTIONARY`.
"""

import polars as pl

DICTIONARY = "seatrial.dictionary"
"""Metadata key: JSON of {"nodes": [name…], "plugins": [name…], "verdicts": [[plugin, code, reason…]…]}."""

OPERATIONS = ("create", "patch", "delete", "done")
REASON = pl.Struct({"reason": pl.String, "count": pl.Int32})
BEST = pl.Struct({"node": pl.String, "total": pl.Int64})

COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "sequence": pl.Int64,
    "major": pl.Int32,
    "minor": pl.Int32,
    "time": pl.Datetime("us", "UTC"),
    "writer": pl.String,
    "entry": pl.String,
    "id": pl.String,
    "api_version": pl.String,
    "kind": pl.String,
    "namespace": pl.String,
    "name": pl.String,
    "revision": pl.Int64,
    "subresource": pl.String,
    "operation": pl.String,
    "object": pl.String,
    "outcome": pl.String,
    "node": pl.String,
    "nominated": pl.String,
    "message": pl.String,
    "profile": pl.String,
    "attempt": pl.Int32,
    "visited": pl.Int32,
    "feasible": pl.Int32,
    "rejected": pl.Int32,
    "reasons": pl.List(REASON),
    "best": pl.List(BEST),
    "victims": pl.List(pl.String),
    "details": pl.String,
    "nodes": pl.List(pl.UInt32),
    "verdicts": pl.List(pl.UInt32),
    "filter_plugins": pl.List(pl.UInt16),
    "feasible_nodes": pl.List(pl.UInt32),
    "score_plugins": pl.List(pl.UInt16),
    "weights": pl.List(pl.Int64),
    "raw": pl.List(pl.Int64),
    "normalized": pl.List(pl.Int64),
    "total": pl.List(pl.Int64),
}
"""Name and type of every column, in order.

`operation` and `object` are JSON: the operation as written, and the object afterwards. `details` is JSON too: the
results of an attempt at the other extension points (preFilter, postFilter, reserve, permit, preBind, bind, extenders).
"""
