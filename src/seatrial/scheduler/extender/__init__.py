"""HTTP extenders: calls to webhooks that filter, score, preempt or bind. Upstream: pkg/scheduler/extender.go."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.scheduler.extender.background import Threads
    from seatrial.scheduler.extender.extender import Transport, TransportError
    from seatrial.scheduler.extender.http_transport import HttpTransport
    from seatrial.scheduler.extender.turns import Abandoned, AwaitingAnswer, InterruptibleAttempts, Turns, TurnTransport
else:
    __getattr__, __dir__ = lazy_exports(__name__)
