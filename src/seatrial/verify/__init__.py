"""Verification: replays recorded answers of real schedulers and compares ours with them."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.verify.golden import verify
else:
    __getattr__, __dir__ = lazy_exports(__name__)
