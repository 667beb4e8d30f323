"""NamespaceLifecycle: nothing is made in a namespace that is not there or is going away.

Upstream: k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle.
"""

from typing import Final

from seatrial.model.errors import Cause, NotFound
from seatrial.store.admission.namespaced_reader import Reader, forbidden
from seatrial.store.requests import Request

IMMORTAL: Final = frozenset({"default", "kube-system", "kube-public"})
_NAMESPACE: Final = ("", "Namespace")


def check_namespace(request: Request, reader: Reader) -> None:
    """NotFound where the namespace is missing, Forbidden where it is being terminated."""
    if request.kind.group_kind == _NAMESPACE:
        if request.operation == "DELETE" and request.name in IMMORTAL:
            raise forbidden(request, "this namespace may not be deleted")
        return
    if not request.namespace or request.operation == "DELETE":
        return
    namespace = reader.find(request.store, "v1", "Namespace", request.namespace)
    if namespace is None:
        raise NotFound(f'namespaces "{request.namespace}" not found', kind="namespaces", name=request.namespace)
    if request.operation == "CREATE" and (namespace.get("status") or {}).get("phase") == "Terminating":
        cause = Cause(
            "metadata.namespace", f"namespace {request.namespace} is being terminated", "NamespaceTerminating"
        )
        why = f"unable to create new content in namespace {request.namespace} because it is being terminated"
        raise forbidden(request, why, [cause])
