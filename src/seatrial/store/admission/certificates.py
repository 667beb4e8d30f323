"""Certificate requests: the requester's identity is recorded, and no request may contain system:masters.

Upstream: pkg/registry/certificates/certificates/strategy.go (PrepareForCreate) and
plugin/pkg/admission/certificates/subjectrestriction.
"""

from seatrial.model.documents import Document
from seatrial.store.admission.namespaced_reader import Reader, forbidden
from seatrial.store.requests import Request
from seatrial.store.users import MASTERS
from seatrial.store.validation.cluster.certificates import organizations

CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client"
IDENTITY = ("username", "uid", "groups", "extra")


def record_requester(request: Request, reader: Reader) -> None:
    """Set the identity in the spec to that of the authenticated user, overwriting what the client sent."""
    if request.operation != "CREATE" or request.user is None:
        return
    spec: Document = {key: value for key, value in (request.document.get("spec") or {}).items() if key not in IDENTITY}
    info = request.user.document()
    request.document["spec"] = spec | {key: info[key] for key in IDENTITY if info.get(key)}


def restrict_subject(request: Request, reader: Reader) -> None:
    """Refuse a client certificate for a member of system:masters."""
    spec = request.document.get("spec") or {}
    if request.operation != "CREATE" or spec.get("signerName") != CLIENT_SIGNER:
        return
    if MASTERS in organizations(spec.get("request", "")):
        raise forbidden(request, f"use of {CLIENT_SIGNER} signer with system:masters group is not allowed")
