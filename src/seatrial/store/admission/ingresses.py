"""DefaultIngressClass: an Ingress that names no class gets the default one.

Upstream: plugin/pkg/admission/network/defaultingressclass.
"""

from typing import Final

from seatrial.store.admission.namespaced_reader import Reader
from seatrial.store.requests import Request

_DEFAULT_MARK: Final = "ingressclass.kubernetes.io/is-default-class"


def set_default_class(request: Request, reader: Reader) -> None:
    """The newest default class, where the Ingress has neither field nor annotation."""
    if request.operation != "CREATE" or request.subresource:
        return
    spec = request.document.setdefault("spec", {})
    annotations = request.document["metadata"].get("annotations") or {}
    if spec.get("ingressClassName") is not None or "kubernetes.io/ingress.class" in annotations:
        return
    classes = reader.all(request.store, "networking.k8s.io/v1", "IngressClass")
    defaults = [found for found in classes if (found["metadata"].get("annotations") or {}).get(_DEFAULT_MARK) == "true"]
    newest = max(defaults, key=lambda found: str(found["metadata"].get("creationTimestamp", "")), default=None)
    if newest is not None:
        spec["ingressClassName"] = newest["metadata"]["name"]
