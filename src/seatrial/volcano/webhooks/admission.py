"""Calls the webhook functions of each kind after the admission steps of the API server itself.

Upstream: pkg/webhooks/router; the rules (kinds and operations) are those that the webhooks register.
"""

from collections.abc import Callable, Mapping
from typing import Final

from seatrial.model.kinds import Kind
from seatrial.store import Admission, Request, Store
from seatrial.store.admission import Reader
from seatrial.volcano.webhooks import cronjobs, hypernodes, jobs_mutate, jobs_validate, podgroups, pods, queues

Webhook = Callable[[Request, Reader], None]
Rules = dict[tuple[str, str, str], Webhook]

_MUTATING: Final[Rules] = {
    ("batch.volcano.sh", "Job", "CREATE"): jobs_mutate.mutate,
    ("scheduling.volcano.sh", "Queue", "CREATE"): queues.mutate,
    ("scheduling.volcano.sh", "PodGroup", "CREATE"): podgroups.mutate,
}
_VALIDATING: Final[Rules] = {
    ("batch.volcano.sh", "Job", "CREATE"): jobs_validate.validate_create,
    ("batch.volcano.sh", "Job", "UPDATE"): jobs_validate.validate_update,
    ("batch.volcano.sh", "CronJob", "CREATE"): cronjobs.validate,
    ("batch.volcano.sh", "CronJob", "UPDATE"): cronjobs.validate,
    ("scheduling.volcano.sh", "Queue", "CREATE"): queues.validate,
    ("scheduling.volcano.sh", "Queue", "UPDATE"): queues.validate,
    ("scheduling.volcano.sh", "Queue", "DELETE"): queues.validate_deletion,
    ("scheduling.volcano.sh", "PodGroup", "CREATE"): podgroups.validate,
    ("topology.volcano.sh", "HyperNode", "CREATE"): hypernodes.validate,
    ("topology.volcano.sh", "HyperNode", "UPDATE"): hypernodes.validate,
    ("", "Pod", "CREATE"): pods.validate,
}
_QUEUES: Final = ("scheduling.volcano.sh", "Queue")
_GROUPS: Final = ("batch.volcano.sh", "scheduling.volcano.sh")


class VolcanoAdmission:
    """Admission of a cluster in which Volcano is installed."""

    def __init__(self, inner: Admission) -> None:
        self._inner = inner
        self._reader = Reader()

    def admit(self, request: Request) -> None:
        self._inner.admit(request)
        self._call(_MUTATING, request)

    def validate(self, request: Request) -> None:
        self._call(_VALIDATING, request)
        self._inner.validate(request)

    def binding_labels(self, store: Store, node: str) -> Mapping[str, str]:
        """The labels that a pod takes over from the node it is bound to."""
        return self._inner.binding_labels(store, node)

    def inputs(self, store: Store, kind: Kind, namespace: str) -> tuple[int, ...] | None:
        """The inputs of the inner steps, and the queues, which the webhooks of Volcano's kinds read."""
        inner = self._inner.inputs(store, kind, namespace)
        if inner is None or kind.group not in _GROUPS:
            return inner
        return *inner, store.writes(_QUEUES)

    def _call(self, rules: Rules, request: Request) -> None:
        webhook = rules.get((*request.kind.group_kind, request.operation))
        if webhook is not None and not request.subresource:
            webhook(request, self._reader)
