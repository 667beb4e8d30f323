"""Authorizes approving and signing of certificate requests: the verbs `approve` and `sign` on the request's signer.

Upstream: plugin/pkg/admission/certificates (approval, signing) and pkg/registry/certificates/authorization.
"""

from collections.abc import Mapping

from seatrial.model.kinds import Kind
from seatrial.server.authorization.attributes import Attributes
from seatrial.server.authorization.authorizer import Authorizer
from seatrial.store import Admission, Request, Store, User
from seatrial.store.admission import forbidden

GROUP = "certificates.k8s.io"


class SignerCheck:
    """Admission that requires the right to the signer when a request is approved or signed."""

    def __init__(self, inner: Admission, authorizer: Authorizer) -> None:
        self._inner = inner
        self._authorizer = authorizer

    def admit(self, request: Request) -> None:
        """Run the inner steps."""
        self._inner.admit(request)

    def validate(self, request: Request) -> None:
        """Refuse a decision by a user without the right to the signer, then run the inner steps."""
        if request.kind.kind == "CertificateSigningRequest" and request.subresource in ("approval", "status"):
            self._check(request)
        self._inner.validate(request)

    def binding_labels(self, store: Store, node: str) -> Mapping[str, str]:
        """The labels that a pod takes over from the node it is bound to."""
        return self._inner.binding_labels(store, node)

    def inputs(self, store: Store, kind: Kind, namespace: str) -> tuple[int, ...] | None:
        """The inputs of the inner steps."""
        return self._inner.inputs(store, kind, namespace)

    def _check(self, request: Request) -> None:
        user, old = request.user, request.old
        if user is None or user.is_privileged or old is None:
            return
        if request.subresource == "status" and request.document.get("status") == old.get("status"):
            return
        signer = old["spec"].get("signerName", "")
        verb = "approve" if request.subresource == "approval" else "sign"
        if not any(self._may(user, verb, name) for name in (signer, signer.partition("/")[0] + "/*")):
            raise forbidden(request, f'user not permitted to {verb} requests with signerName "{signer}"')

    def _may(self, user: User, verb: str, signer: str) -> bool:
        return self._authorizer.authorize(Attributes(user, verb, GROUP, "*", "signers", name=signer)).allowed
