"""HTTP extenders: calls to webhooks that filter, score, preempt or bind. Upstream: pkg/scheduler/extender.go."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.scheduler.extender.background import Threads
    from seatrial.scheduler.extender.extender import Transport, TransportError
    from seatrial.scheduler.extender.http_transport import HttpTransport
    from seatrial.scheduler.extender.turns import Abandoned, InterruptibleAttempts, Turns, TurnTransport, Waiting

__all__ = [
    "Abandoned",
    "HttpTransport",
    "InterruptibleAttempts",
    "Threads",
    "Transport",
    "TransportError",
    "TurnTransport",
    "Turns",
    "Waiting",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "HttpTransport": "http_transport",
            "InterruptibleAttempts": "turns",
            "Threads": "background",
            "Abandoned": "turns",
            "Transport": "extender",
            "TransportError": "extender",
            "TurnTransport": "turns",
            "Turns": "turns",
            "Waiting": "turns",
        },
    )
