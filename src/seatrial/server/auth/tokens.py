"""TokenRequest: the serviceaccounts/token subresource.

Upstream: pkg/registry/core/serviceaccount/storage/token.go.
"""

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest, Cause, Conflict, Invalid
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND, to_time
from seatrial.server.auth.service_account_tokens import ISSUER, ServiceAccountTokens
from seatrial.server.handlers import request_bodies as bodies
from seatrial.server.messages import Request
from seatrial.store import Store

TOKEN_REQUEST = Kind("authentication.k8s.io", "v1", "TokenRequest", "tokenrequests")
SHORTEST, LONGEST = 600, 1 << 32
BINDABLE = ("Pod", "Secret", "Node")


def issue_token(tokens: ServiceAccountTokens, store: Store, account: Document, request: Request) -> Document:
    """A TokenRequest with its status: a token of the service account."""
    document = bodies.read_object(request, TOKEN_REQUEST) if request.body else {}
    spec = document.get("spec") or {}
    if not isinstance(spec, dict):
        raise BadRequest("spec: expected an object")
    seconds = spec.get("expirationSeconds")
    seconds = 3600 if seconds is None else seconds
    _check_seconds(seconds)
    audiences = spec.get("audiences") or [ISSUER]
    if not isinstance(audiences, list) or not all(isinstance(audience, str) for audience in audiences):
        raise BadRequest("spec.audiences: expected a list of strings")
    bound = _bound(store, account, spec["boundObjectRef"]) if spec.get("boundObjectRef") else None
    now, metadata = store.clock.now(), account["metadata"]
    token = tokens.issue(account, seconds, audiences, bound)
    return {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"], "creationTimestamp": to_time(now)},
        "spec": spec | {"expirationSeconds": seconds, "audiences": audiences},
        "status": {"token": token, "expirationTimestamp": to_time(now + seconds * SECOND)},
    }


def _check_seconds(seconds: object) -> None:
    why = ""
    if not isinstance(seconds, int) or seconds < SHORTEST:
        why = "may not specify a duration less than 10 minutes"
    elif seconds > LONGEST:
        why = "may not specify a duration larger than 2^32 seconds"
    if why:
        cause = Cause("spec.expirationSeconds", f"Invalid value: {seconds}: {why}")
        text = f'TokenRequest.authentication.k8s.io "" is invalid: {cause.field}: {cause.message}'
        raise Invalid(text, group="authentication.k8s.io", kind="TokenRequest", causes=[cause])


def _bound(store: Store, account: Document, reference: Document) -> Document:
    """The object that the token ends with."""
    kind = reference.get("kind") if isinstance(reference, dict) else None
    if kind not in BINDABLE or reference.get("apiVersion") != "v1":
        version = reference.get("apiVersion", "") if isinstance(reference, dict) else ""
        raise BadRequest(f"cannot bind token to object of type {version}, Kind={kind or ''}")
    known, name = store.kinds.named("v1", kind), account["metadata"]["name"]
    assert known is not None
    namespace = account["metadata"]["namespace"] if known.namespaced else ""
    found = store.get(known, str(reference.get("name") or ""), namespace).document()
    if kind == "Pod" and (found["spec"].get("serviceAccountName") or "default") != name:
        why = f'cannot bind token for serviceaccount "{name}" to pod running with different serviceaccount name.'
        raise BadRequest(why)
    if reference.get("uid") and reference["uid"] != found["metadata"]["uid"]:
        why = f"the UID in the bound object reference ({reference['uid']}) does not match the UID in record. "
        raise Conflict(f"{why}The object might have been deleted and then recreated")
    return found | {"kind": kind}
