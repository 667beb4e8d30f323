"""Defaults and validation of a PodGroup.

Upstream: pkg/webhooks/admission/podgroups. A queue without a state counts as open, as in `jobs_validate`.
"""

from typing import Final

from seatrial.model.documents import Document
from seatrial.store import Request
from seatrial.store.admission import Reader
from seatrial.volcano.apis import DEFAULT_QUEUE, QUEUE
from seatrial.volcano.apis.labels import QUEUE_NAME
from seatrial.volcano.webhooks.denied import Denied
from seatrial.volcano.webhooks.jobs_validate import topology_fault

WEBHOOK: Final = "validatepodgroup.volcano.sh"


def mutate(request: Request, reader: Reader) -> None:
    """A group of the default queue takes the queue that its namespace names."""
    spec = request.document.setdefault("spec", {})
    if not isinstance(spec, dict) or spec.get("queue") != DEFAULT_QUEUE:
        return  # what is no object is refused by its schema, after this
    namespace = reader.find(request.store, "v1", "Namespace", request.namespace)
    annotations = ((namespace or {}).get("metadata") or {}).get("annotations") or {}
    if QUEUE_NAME in annotations:
        spec["queue"] = annotations[QUEUE_NAME]


def validate(request: Request, reader: Reader) -> None:
    """Refuse a group whose queue does not exist or takes no more."""
    spec = request.document["spec"]
    text = _queue_fault(request, reader, spec.get("queue") or "") + _topology_faults(spec)
    if text:
        raise Denied(WEBHOOK, text)


def _queue_fault(request: Request, reader: Reader, name: str) -> str:
    if not name:
        return ""
    queue = reader.find(request.store, *QUEUE, name)
    if queue is None:
        return f'unable to find queue: queue.scheduling.volcano.sh "{name}" not found'
    state = (queue.get("status") or {}).get("state", "")
    if state not in ("", "Open"):
        return f"can only submit PodGroup to queue with state `Open`, queue `{name}` status is `{state}`. "
    return ""


def _topology_faults(spec: Document) -> str:
    faults = []
    if fault := topology_fault(spec.get("networkTopology")):
        faults.append(f"{fault}.")
    for policy in spec.get("subGroupPolicy") or ():
        if fault := topology_fault(policy.get("networkTopology")):
            faults.append(f"in subGroupPolicy '{policy.get('name', '')}': {fault}.")
            break
    return " ".join(faults)
