"""Printer columns of the built-in kinds, as `kubectl get` shows them. Upstream: pkg/printers/internalversion."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.store.printers.columns import Cell, Column, Columns, plain
else:
    __getattr__, __dir__ = lazy_exports(__name__)
