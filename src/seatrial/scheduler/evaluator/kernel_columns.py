"""Columns of a shape that the compiled kernel brings up to date, searches and adds up.

The arrays are those of `ShapeColumns`: the kernel writes changed rows into them, so that every other part of the
evaluator may go on with them. What the kernel cannot compute is left to the columns themselves.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from seatrial.scheduler.cache.node_table import NodeTable, Rows
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.pod_requests import PODS
from seatrial.scheduler.evaluator.column_cache import ShapeColumns
from seatrial.scheduler.evaluator.kernel_plan import Plan, Stamp, make_plan, stamp_of
from seatrial.scheduler.evaluator.plugin_column import FilterColumn, ScoreColumn
from seatrial.scheduler.framework.interface import Plugin, Reads
from seatrial.scheduler.framework.row_rules import RowFilter, RowScore
from seatrial.scheduler.framework.runtime import CycleState, Framework

if TYPE_CHECKING:
    from seatrial_kernel import Cycle, ShapeRows


class KernelColumns(ShapeColumns):
    """Implements `ShapeColumns` with the kernel where it can."""

    by_spec = False
    """A plan is one of a shape."""
    _rows: "ShapeRows | None" = None
    """What the kernel has of the rows; None until it is asked for, and if the columns were changed as a whole."""
    _rules: list[ScoreColumn] | None = None
    """The scores that the kernel computes; None if it cannot compute all that depends on pods."""
    _versions: tuple[int, int] = (-1, -1)
    _depends: tuple[tuple[Any, Any], ...] = ()
    plan: "Plan | None" = None
    """What a cycle asks, if that is known; dropped together with `_rows`."""
    _seen: "Stamp | None" = None
    """The stamp of the last cycle that plugins were asked in."""

    def rows(self, pod: PodInfo, order: Rows) -> "ShapeRows":
        """The rows in an order, for the kernel."""
        if self._rows is None or self._rows.order is not order:
            self.plan = None
            self._rows = self._make_rows(pod, order)
        return self._rows

    def refresh(self, pod: PodInfo, cycle: CycleState) -> None:
        table = self.table
        if self._rows is None or self._rules is None:
            super().refresh(pod, cycle)
            return
        entries = table.entries(self.mark) if self.is_like_before() else None
        if entries is None or len(entries) > table.size:
            self._rows = self.plan = None
            super().refresh(pod, cycle)
            return
        if not entries:
            return
        if not self._rows.update(entries):
            self._leave_range()
        self._take_entries(entries)
        self.hand_over()

    def keep_plan(self, framework: Framework, pod: PodInfo, cycle: CycleState) -> None:
        """After a cycle: makes a plan if nothing has changed since the cycle before that a plan depends on."""
        stamp = stamp_of(framework, self.table)
        is_wanted = self.plan is None and stamp is not None and stamp == self._seen
        self._seen = stamp
        if is_wanted and self._rows is not None and self._rules is not None and stamp is not None:
            self.plan = make_plan(framework, pod, cycle, self, self._rows, stamp)
            self._seen = None

    def schedule(self, start: int, limit: int) -> "Cycle | None":
        """A cycle according to the plan; None if plugins must be asked. The caller hands over when it is done."""
        entries = self.table.entries(self.mark)
        if self._rows is None or entries is None or len(entries) > self.size:
            return None
        answer = self._rows.schedule(entries, start, limit)
        if entries:
            self._take_entries(entries)
        if answer is None:
            self.plan = None
            self._leave_range()
        return answer

    def hand_over(self) -> None:
        """Lets other shapes know of the rows that the kernel has brought up to date."""
        for shared, _ in self._joint:
            shared.is_up_to_date(self.mark)

    def _take_entries(self, entries: list[int]) -> None:
        """Takes in changes that the kernel has worked off."""
        self.mark += len(entries)
        self.indexes.drop()
        if len(entries) == 1:  # most often
            self.rows_evaluated += 1
            if self._rejections is not None:
                self._rejections.update_row(entries[0] >> 1)
            return
        changed = {entry >> 1 for entry in entries}
        self.rows_evaluated += len(changed)
        if self._rejections is not None:
            self._rejections.update(np.fromiter(sorted(changed), np.intp, len(changed)))

    def _leave_range(self) -> None:
        """A score that the kernel computes is, or may be, out of range."""
        for score in self._rules or ():
            score.is_in_range = False

    def is_like_before(self) -> bool:
        """Whether only pods of rows have changed since the kernel got the rows."""
        table = self.table
        if self._versions != (table.version, table.resources_asked) or self.size != table.size or self._has_failed:
            return False
        for shared, known in self._joint:
            if shared.generation != known:
                return False
        return all(depends_on() == known for depends_on, known in self._depends)

    def _index(self) -> None:
        self._rows = self.plan = None
        super()._index()

    def _join(self, rows: Rows) -> None:
        self._rows = self.plan = None
        super()._join(rows)

    def _update_row(self, pod: PodInfo, row: int, node_changed: bool) -> None:
        super()._update_row(pod, row, node_changed)
        if node_changed:
            self._rows = self.plan = None
        elif self._rows is not None:
            self._rows.change(row, not self.blocked.item(row))

    def _make_rows(self, pod: PodInfo, order: Rows) -> "ShapeRows":
        from seatrial_kernel import ShapeRows

        made = ShapeRows(order, self.blocked.view(np.uint8), self.local, self._blocking, self._adding)
        self._versions = self.table.version, self.table.resources_asked
        moving = {c.call.name: c for c in self._all if type(c.call.plugin).depends_on is not Plugin.depends_on}
        self._depends = tuple((column.depends_on, column.depends) for column in moving.values())
        self._rules = self._add_rules(made, pod)
        return made

    def _add_rules(self, rows: "ShapeRows", pod: PodInfo) -> list[ScoreColumn] | None:
        """Gives the kernel all that depends on the pods of rows; None if some of it is not known to it."""
        rules: list[ScoreColumn] = []
        for column in self._all:
            if column.is_empty or column.call.reads == Reads.NODE or _is_steady(column, pod, self.table):
                continue
            if isinstance(column, FilterColumn):
                if not _add_filter(rows, column, self.table):
                    return None
            elif isinstance(column, ScoreColumn):
                if not _add_score(rows, column, self.table):
                    return None
                column.is_flat = False
                rules.append(column)
        return rules


def _is_steady(column: FilterColumn | ScoreColumn, pod: PodInfo, table: NodeTable) -> bool:
    """Whether pods of rows do not change the column."""
    is_steady = getattr(column.call.plugin, "is_steady", None)
    return is_steady is not None and column.call.is_in_tree and bool(is_steady(pod, table))


def _add_filter(rows: "ShapeRows", column: FilterColumn, table: NodeTable) -> bool:
    describe = getattr(column.call.plugin, "row_filter", None)
    rule: RowFilter | None = describe(column.state) if describe is not None and column.call.is_in_tree else None
    if rule is None or column.codes is None:
        return False
    wanted = [
        (table.allocatable_column(name), table.requested_column(name), amount, by_devices)
        for name, amount, by_devices in rule.wanted
    ]
    rows.add_fit(column.codes, table.allocatable_column(PODS), table.requested_column(PODS), wanted)
    return True


def _add_score(rows: "ShapeRows", column: ScoreColumn, table: NodeTable) -> bool:
    describe = getattr(column.call.plugin, "row_score", None)
    rule: RowScore | None = describe(column.state) if describe is not None and column.call.is_in_tree else None
    if rule is None or column.raw is None:
        return False
    shares = [
        (table.allocatable_column(share.offered), table.requested_column(share.asked), share.weight, share.request)
        for share in rule.shares
    ]
    rows.add_score((column.raw, rule.strategy, rule.line, shares))
    return True
