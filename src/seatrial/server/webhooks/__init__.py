"""Calls to webhooks: the client that all of them share, and the conversion of custom resources."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.server.webhooks.conversion import ConversionWebhooks
else:
    __getattr__, __dir__ = lazy_exports(__name__)
