"""The buffer of the timeline's rows: what a frame of it holds."""

from pathlib import Path

import numpy as np
import pytest

from seatrial.timeline.columns import COLUMNS
from seatrial.timeline.rows import ATTEMPT_COLUMNS, ROW_COLUMNS, Buffer, Rows, SpillingSink, frame_of

CELLS = 5000
BYTES_OF_A_CELL = 8


def attempt(cells: int | None) -> tuple[object, ...]:
    """The cells of one attempt: the nodes and verdicts of a search, or none."""
    kept = {} if cells is None else {name: np.arange(cells, dtype=np.uint32) for name in ("nodes", "verdicts")}
    return tuple([kept.get(name) for name in ATTEMPT_COLUMNS])


def filled(writes: int, attempts: list[int | None]) -> Buffer:
    """A buffer with writes, then attempts with so many cells each."""
    buffer = Buffer()
    buffer.cells = [None] * len(ROW_COLUMNS) * (writes + len(attempts))
    buffer.where = [*[None] * writes, *range(len(attempts))]
    buffer.attempts = [attempt(cells) for cells in attempts]
    return buffer


def test_only_the_rows_of_attempts_with_cells_hold_cells() -> None:
    frame = frame_of(filled(1000, [CELLS, None, CELLS]))
    assert frame.schema == COLUMNS
    assert frame["nodes"].is_null().to_list() == [True] * 1000 + [False, True, False]
    assert frame["nodes"][-1].to_list() == list(range(CELLS))
    flat = frame["nodes"].explode()
    assert flat.drop_nulls().len() == 2 * CELLS


@pytest.mark.parametrize("attempts", [[CELLS], [CELLS, *[None] * 1000], [CELLS, CELLS]])
def test_rows_without_cells_take_no_memory_for_cells(attempts: list[int | None]) -> None:
    frame = frame_of(filled(1000, attempts))
    empty = frame_of(filled(1000, [None] * len(attempts)))
    assert frame.estimated_size() - empty.estimated_size() < 4 * CELLS * BYTES_OF_A_CELL


def test_an_attempt_that_is_repeated_is_kept_once_and_shown_in_each_row() -> None:
    rows, repeated = Rows(), attempt(CELLS)
    for number in range(3):
        rows.add((*[None] * (len(ROW_COLUMNS) - 1), number), repeated)
    rows.add(tuple([None] * len(ROW_COLUMNS)))
    assert len(rows._buffer.attempts) == 1
    table = rows.table().collect()
    assert [None if row is None else len(row) for row in table["nodes"]] == [CELLS, CELLS, CELLS, None]
    assert table["attempt"].to_list() == [0, 1, 2, None]


@pytest.mark.parametrize(("bound", "files"), [(2**30, 0), (1, 3), (frame_of(filled(4, [])).estimated_size(), 2)])
def test_frames_beyond_the_bound_become_files_and_the_table_is_the_same(bound: int, files: int, tmp_path: Path) -> None:
    rows = Rows(SpillingSink(tmp_path, bound))
    for _ in range(3):
        for _ in range(4):
            rows.add(tuple([None] * len(ROW_COLUMNS)))
        rows.flush()
    assert len(list(tmp_path.iterdir())) == files
    assert rows.is_in_memory == (files == 0)
    assert rows.table().collect()["sequence"].to_list() == list(range(12))
