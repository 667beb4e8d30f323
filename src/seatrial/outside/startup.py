"""When an outside controller follows the cluster, so that a scenario can begin."""

import time

from seatrial.outside.idle import FOR_AN_EVENT
from seatrial.outside.session import Session
from seatrial.outside.watches import GroupKind

SETTLES, SETTLES_SOON = 2.0, 0.2
"""Seconds without a new watch after which a program has started; fewer where it is known what it must watch."""


class Startup:
    """Ready when it watches, or has read, the kinds that it must, and no new watch comes for a while.

    A program whose first request is a write waits for its turn: it has come up.
    """

    def __init__(self, session: Session, needed: frozenset[GroupKind]) -> None:
        self._session, self._needed = session, needed
        self._seen: tuple[int, int] = (-1, -1)
        self._since = 0.0

    def wait(self) -> float | None:
        """None: ready; else the seconds after which to ask again."""
        watched = self._session.watches.kinds
        now, seen = time.monotonic(), (len(watched), len(self._session.kinds_read))
        known = any(seen) and self._needed <= watched | self._session.kinds_read
        if not known and not self._session.has_writes:
            return FOR_AN_EVENT
        if seen != self._seen:
            self._seen, self._since = seen, now
        left = self._since + (SETTLES_SOON if self._needed else SETTLES) - now
        return left if left > 0 else None

    def doing(self) -> str:
        missing = sorted(kind for _, kind in self._needed - self._session.watches.kinds)
        return f"it does not watch {', '.join(missing)}" if missing else "it has sent no request"
