"""Reviews: requests that are sent as creates, answered and never stored.

Upstream: pkg/registry/authentication and pkg/registry/authorization.
"""

from collections.abc import Awaitable, Callable

from seatrial.model.apply import track_create
from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest
from seatrial.model.kinds import Kind
from seatrial.model.schema import schema_of
from seatrial.model.times import to_time
from seatrial.server.auth.authentication import ISSUER, Identities
from seatrial.server.authorization import access_reviews
from seatrial.server.authorization.authorizer import Authorizer
from seatrial.server.authorization.rbac import aggregate
from seatrial.server.authorization.rules import PolicyRule
from seatrial.server.encoding.negotiation import negotiate
from seatrial.server.encoding.rendering import Rendering
from seatrial.server.handlers import options
from seatrial.server.handlers import request_bodies as bodies
from seatrial.server.handlers.resources import not_allowed
from seatrial.server.messages import Answer, Request
from seatrial.server.paths import Target
from seatrial.store import Store

GROUPS = frozenset(("authentication.k8s.io", "authorization.k8s.io"))
Review = Callable[[Document, Request, Target], Document]


class Reviews:
    """Answers the reviews of authentication.k8s.io and authorization.k8s.io."""

    def __init__(self, store: Store, identities: Identities, authorizer: Authorizer) -> None:
        self._clock = store.clock
        self._identities = identities
        self._authorizer = authorizer
        self._reviews: dict[str, Review] = {
            "SelfSubjectAccessReview": self._access,
            "SubjectAccessReview": self._access,
            "LocalSubjectAccessReview": self._access,
            "SelfSubjectRulesReview": self._rules,
            "SelfSubjectReview": self._self,
            "TokenReview": self._token,
        }

    def find(self, kind: Kind) -> Callable[[Request, Target], Awaitable[Answer]] | None:
        """The handler of a kind; None where it is no review."""
        if kind.group not in GROUPS or kind.kind not in self._reviews:
            return None
        return self._serve

    async def _serve(self, request: Request, target: Target) -> Answer:
        if request.method != "POST" or not target.is_collection:
            raise not_allowed()
        rendering = Rendering(target.kind, negotiate(request.header("accept")), pretty=request.wants_indented)
        options.create_options(request, trusted=True)
        document = bodies.read_object(request, target.kind)
        answered = self._reviews[target.kind.kind](document, request, target)
        return rendering.document_answer(
            {"kind": target.kind.kind, "apiVersion": target.kind.api_version, **answered}, 201
        )

    def _access(self, document: Document, request: Request, target: Target) -> Document:
        kind = target.kind
        if kind.namespaced and not target.namespace:
            raise not_allowed()
        metadata = document.get("metadata") or {}
        if kind.namespaced and not metadata.get("namespace"):
            document["metadata"] = {**metadata, "namespace": target.namespace}
        access_reviews.validate(kind, document)
        spec = document["spec"]
        action = access_reviews.action(spec, request.user if kind.kind.startswith("Self") else None)
        decision = self._authorizer.authorize(action)
        status: Document = {"allowed": decision.allowed}
        if decision.reason:
            status["reason"] = decision.reason
        if ignored := access_reviews.ignored_selectors(spec.get("resourceAttributes") or {}):
            status["evaluationError"] = ignored
        return {"metadata": self._owned(document, request, kind), "spec": spec, "status": status}

    def _rules(self, document: Document, request: Request, target: Target) -> Document:
        namespace = (document.get("spec") or {}).get("namespace") or ""
        if not namespace:
            raise BadRequest("no namespace on request")
        resolved = self._authorizer.rules_for(request.user, namespace)
        status: Document = {
            "resourceRules": [_resource_rule(rule) for rule in resolved.rules if rule.resources],
            "nonResourceRules": [
                {"verbs": list(rule.verbs), "nonResourceURLs": list(rule.non_resource_urls)}
                for rule in resolved.rules
                if rule.non_resource_urls
            ],
            "incomplete": False,
        }
        if resolved.errors:
            status["evaluationError"] = aggregate(resolved.errors)
        return {"metadata": {}, "spec": {}, "status": status}

    def _self(self, document: Document, request: Request, target: Target) -> Document:
        metadata = {"creationTimestamp": to_time(self._clock.now())}
        return {"metadata": metadata, "status": {"userInfo": request.user.document()}}

    def _token(self, document: Document, request: Request, target: Target) -> Document:
        spec = document.get("spec") or {}
        token = spec.get("token")
        if not token:
            raise BadRequest("token is required for TokenReview in authentication")
        found = self._identities.review(token, spec.get("audiences") or [ISSUER])
        status: Document = {"user": {}, "error": "invalid bearer token"}
        if found is not None:
            status = {"authenticated": True, "user": found.user.document(), "audiences": list(found.audiences)}
        return {"metadata": self._owned(document, request, target.kind), "spec": spec, "status": status}

    def _owned(self, document: Document, request: Request, kind: Kind) -> Document:
        """The metadata with the managedFields that a create of the review gives it."""
        track_create(
            document,
            manager=options.manager_of(request),
            api_version=kind.api_version,
            now=self._clock.now(),
            schema=schema_of(kind),
        )
        metadata: Document = document["metadata"]
        return metadata


def _resource_rule(rule: PolicyRule) -> Document:
    document: Document = {
        "verbs": list(rule.verbs),
        "apiGroups": list(rule.api_groups),
        "resources": list(rule.resources),
    }
    if rule.resource_names:
        document["resourceNames"] = list(rule.resource_names)
    return document
