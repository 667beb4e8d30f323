"""Revisions, the index of current objects, and the history window for watches."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.store.mvcc.history import History

__all__ = ["History"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "History": "history",
        },
    )
