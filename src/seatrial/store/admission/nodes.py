"""TaintNodesByCondition: a node that is not ready takes no pods from the moment it is made.

Upstream (plugin/pkg/admission/nodetaint) taints every new node. Here a node is ready unless it says otherwise, so only
one whose Ready condition is given and not True is tainted.
"""

from typing import Final

from seatrial.store.admission.namespaced_reader import Reader
from seatrial.store.requests import Request

NOT_READY: Final = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def taint_unready(request: Request, reader: Reader) -> None:
    """Taint a new node that says it is not ready."""
    if request.operation != "CREATE" or request.subresource:
        return
    conditions = (request.document.get("status") or {}).get("conditions") or ()
    ready = next((condition for condition in conditions if condition.get("type") == "Ready"), None)
    if ready is None or ready.get("status") == "True":
        return
    spec = request.document.setdefault("spec", {})
    taints = spec.get("taints") or []
    if not any((taint.get("key"), taint.get("effect")) == tuple(NOT_READY.values()) for taint in taints):
        spec["taints"] = [*taints, dict(NOT_READY)]
