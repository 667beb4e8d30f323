"""Forgets history that is older than five minutes, as kube-apiserver does with etcd's.

A watch or a list at an older revision is answered with 410; without it, clients never meet that case.

Upstream: k8s.io/apiserver/pkg/storage/etcd3/compact.go (v1.36). It rests while a scenario runs.
"""

from seatrial.clock import Clock, Timer
from seatrial.model.times import MINUTE
from seatrial.store import Store

EVERY = 5 * MINUTE


class Compactor:
    """Compacts to the revision of the tick before."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._revision = 0
        self._timer: Timer | None = None

    def start(self) -> None:
        self._revision = self._store.revision
        self._timer = self._clock.after(EVERY, self._tick, outer=True)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def has_work(self) -> bool:
        """It works when its time has come only."""
        return False

    def work(self) -> bool:
        return False

    def _tick(self) -> None:
        self._store.compact(self._revision)
        self.start()
