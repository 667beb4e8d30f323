"""Verification: replays recorded answers of real schedulers and compares ours with them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.verify.golden import verify

__all__ = ["verify"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "verify": "golden",
        },
    )
