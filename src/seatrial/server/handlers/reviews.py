"""Reviews: questions that are spelled as creates and never stored. A known user may do everything for now."""

from collections.abc import Awaitable, Callable

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest
from seatrial.model.kinds import Kind
from seatrial.model.times import to_time
from seatrial.server.auth.authentication import Identities
from seatrial.server.encoding.negotiation import negotiate
from seatrial.server.encoding.rendering import Rendering
from seatrial.server.handlers import request_bodies as bodies
from seatrial.server.handlers.resources import not_allowed
from seatrial.server.messages import Answer, Request
from seatrial.server.paths import Target

REASON = "seatrial: every known user may do everything"
Review = Callable[[Document, Request], Document]


class Reviews:
    """Answers the reviews of authentication.k8s.io and authorization.k8s.io."""

    def __init__(self, identities: Identities, now: Callable[[], int]) -> None:
        self._identities = identities
        self._now = now
        self._reviews: dict[str, Review] = {
            "SelfSubjectAccessReview": _allow,
            "SubjectAccessReview": _allow,
            "LocalSubjectAccessReview": _allow,
            "SelfSubjectRulesReview": _rules,
            "SelfSubjectReview": _self,
            "TokenReview": self._token,
        }

    def find(self, kind: Kind) -> Callable[[Request, Target], Awaitable[Answer]] | None:
        """Who answers for a kind; None where it is no review."""
        if kind.group not in ("authentication.k8s.io", "authorization.k8s.io") or kind.kind not in self._reviews:
            return None
        return self._serve

    async def _serve(self, request: Request, target: Target) -> Answer:
        if request.method != "POST" or not target.is_collection:
            raise not_allowed()
        rendering = Rendering(target.kind, negotiate(request.header("accept")))
        document = bodies.read_object(request, target.kind)
        if not isinstance(document.get("spec") or {}, dict):
            raise BadRequest("spec: expected an object")
        status = self._reviews[target.kind.kind](document.get("spec") or {}, request)
        answer: Document = {"kind": target.kind.kind, "apiVersion": target.kind.api_version}
        answer["metadata"] = {
            "creationTimestamp": to_time(self._now()) if target.kind.kind == "SelfSubjectReview" else None
        }
        if target.kind.kind != "SelfSubjectReview":
            answer["spec"] = document.get("spec") or {}
        answer["status"] = status
        return rendering.document_answer(answer, 201)

    def _token(self, spec: Document, _: Request) -> Document:
        token = spec.get("token")
        user = self._identities.user_of(token) if isinstance(token, str) else None
        if user is None:
            return {"user": {}, "error": "invalid bearer token"}
        audiences = spec.get("audiences")
        return {"authenticated": True, "user": user.document()} | ({"audiences": audiences} if audiences else {})


def _allow(spec: Document, _: Request) -> Document:
    return {"allowed": True, "reason": REASON}


def _rules(spec: Document, _: Request) -> Document:
    return {
        "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
        "incomplete": False,
    }


def _self(_: Document, request: Request) -> Document:
    return {"userInfo": request.user.document()}
