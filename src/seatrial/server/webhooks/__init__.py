"""Calls to webhooks: the client that all of them share, and the conversion of custom resources."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.server.webhooks.conversion import ConversionWebhooks

__all__ = ["ConversionWebhooks"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(__name__, {"ConversionWebhooks": "conversion"})
