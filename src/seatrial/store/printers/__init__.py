"""Printer columns of the built-in kinds, as `kubectl get` shows them. Upstream: pkg/printers/internalversion."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.store.printers.columns import Cell, Column, Columns, plain

__all__ = ["Cell", "Column", "Columns", "plain"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Cell": "columns",
            "Column": "columns",
            "Columns": "columns",
            "plain": "columns",
        },
    )
