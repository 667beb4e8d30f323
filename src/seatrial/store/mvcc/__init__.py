"""Revisions, the index of current objects, and the history window for watches."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.store.mvcc.history import History
    from seatrial.store.mvcc.packing import Packing
else:
    __getattr__, __dir__ = lazy_exports(__name__)
