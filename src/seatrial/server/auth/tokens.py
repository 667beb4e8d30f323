"""Tokens for service accounts: the serviceaccounts/token subresource."""

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest, Cause, Invalid
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND, to_time
from seatrial.server.auth.authentication import Identities
from seatrial.server.handlers import request_bodies as bodies
from seatrial.server.messages import Request

TOKEN_REQUEST = Kind("authentication.k8s.io", "v1", "TokenRequest", "tokenrequests")
SHORTEST = 600


def issue_token(identities: Identities, account: Document, request: Request, now: int) -> Document:
    """A TokenRequest with its status: a token that stands for the service account."""
    document = bodies.read_object(request, TOKEN_REQUEST) if request.body else {}
    spec = document.get("spec") or {}
    if not isinstance(spec, dict):
        raise BadRequest("spec: expected an object")
    seconds = spec.get("expirationSeconds")
    seconds = 3600 if seconds is None else seconds
    if not isinstance(seconds, int) or not SHORTEST <= seconds < 2**32:
        cause = Cause(
            "spec.expirationSeconds", f"Invalid value: {seconds}: may not specify a duration less than 10 minutes"
        )
        text = f'TokenRequest.authentication.k8s.io "" is invalid: {cause.field}: {cause.message}'
        raise Invalid(text, group="authentication.k8s.io", kind="TokenRequest", causes=[cause])
    audiences = spec.get("audiences") or []
    if not isinstance(audiences, list):
        raise BadRequest("spec.audiences: expected a list")
    metadata = account["metadata"]
    expires = now + seconds * SECOND
    token = identities.token_for_service_account(
        metadata["namespace"], metadata["name"], metadata["uid"], expires=expires // SECOND, audiences=audiences
    )
    return {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"], "creationTimestamp": to_time(now)},
        "spec": spec | {"expirationSeconds": seconds, "audiences": audiences},
        "status": {"token": token, "expirationTimestamp": to_time(expires)},
    }
