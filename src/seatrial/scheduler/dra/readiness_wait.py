"""The wait of a pod for devices that must be made ready before it is bound.

Upstream: PreBind and isPodReadyForBinding in dynamicresources.go (v1.36.3).
"""

from seatrial.model.documents import Document
from seatrial.model.times import SECOND, parse_time
from seatrial.scheduler.dra.pod_claims import allocation_of
from seatrial.scheduler.dra.readiness import BindingFailed, has_conditions, has_timed_out, is_ready, results_of
from seatrial.scheduler.framework.interface import Handle, Poll, Watched
from seatrial.scheduler.framework.status import SUCCESS, Status, error
from seatrial.scheduler.volumes.claims import metadata_of

INTERVAL = 5 * SECOND
TIMEOUT = "device binding timeout"
_STATUSES = {TIMEOUT: "timeout", "device binding failed": "failure"}


class ReadinessWait:
    """Looks at the claims of a pod until their devices are ready; `claims` is brought up to date with each look."""

    def __init__(self, handle: Handle, claims: list[Document], profile: str, timeout: int) -> None:
        self._cluster, self._now, self._metrics = handle.cluster, handle.now, handle.metrics
        self._claims, self._profile, self._timeout = claims, profile, timeout
        self._start = self._now()

    def poll(self) -> Poll:
        """The wait as the framework carries it out."""
        times = [
            parse_time(started) + self._timeout
            for claim in self._claims
            if has_conditions((claim,)) and (started := (allocation_of(claim) or {}).get("allocationTimestamp"))
        ]
        return Poll(
            self.check,
            frozenset(_watched(claim) for claim in self._claims),
            INTERVAL,
            self._timeout,
            f"{TIMEOUT}: context deadline exceeded",
            changes_at=min(times) + 1 if times else None,
            finished=self.finished,
        )

    def finished(self, failure: str) -> None:
        """Count the devices that the pod has waited for, and how long."""
        seconds = (self._now() - self._start) / SECOND
        status = next((status for text, status in _STATUSES.items() if failure.startswith(text)), "error")
        for claim in self._claims:
            for result in results_of(claim):
                labels = (self._profile, result.get("driver", ""), status if failure else "success")
                self._metrics.observe("dra_bindingconditions_wait_duration_seconds", seconds, *labels)
                if result.get("bindingConditions"):
                    self._metrics.inc("dra_bindingconditions_allocations_total", *labels)

    def check(self) -> Status | None:
        """Success where all devices are ready, an error where one will not be, None: not yet."""
        for place, claim in enumerate(self._claims):
            _, namespace, name = _watched(claim)
            stored = self._cluster.get("ResourceClaim", name, namespace)
            if stored is None:
                return error(f'could not find ResourceClaim "{namespace}/{name}"')
            self._claims[place] = stored
            try:
                if is_ready(stored):
                    continue
            except BindingFailed as failure:
                return error(str(failure))
            is_late = has_timed_out(stored, self._now(), self._timeout)
            return error(f"{TIMEOUT}: claim={name}") if is_late else None
        return SUCCESS


def _watched(claim: Document) -> Watched:
    metadata = metadata_of(claim)
    return "ResourceClaim", metadata.get("namespace") or "", metadata.get("name", "")
