"""Signs approved CertificateSigningRequests with the server's certificate authority.

Upstream: pkg/controller/certificates/signer and pkg/apis/certificates/helpers.go.
"""

import base64
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

from seatrial.controllers.framework import Context, Key, Listener, QueueController
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.times import to_time
from seatrial.store.validation import APPROVED, FAILED, organizations, parsed

if TYPE_CHECKING:
    from cryptography.x509 import CertificateSigningRequest

    from seatrial.server.auth import Authority

CLIENT = "kubernetes.io/kube-apiserver-client"
KUBELET_CLIENT = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING = "kubernetes.io/kubelet-serving"
OPTIONAL = frozenset(("digital signature", "key encipherment"))


class CertificateSigner(QueueController):
    """Gives approved requests of Kubernetes' own signers their certificate."""

    name: ClassVar[str] = "csrsigning"
    reads_pods: ClassVar[bool] = False

    def __init__(self, context: Context, authority: "Authority") -> None:
        super().__init__(context)
        self.kind = context.kind("certificates.k8s.io/v1", "CertificateSigningRequest")
        self._authority = authority

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self.enqueue_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1])
        if stored is None:
            return
        document = stored.document()
        spec, status = document["spec"], document.get("status") or {}
        held = {condition["type"] for condition in status.get("conditions") or () if condition["status"] == "True"}
        if APPROVED not in held or FAILED in held or status.get("certificate"):
            return
        if spec["signerName"] not in (CLIENT, KUBELET_CLIENT, KUBELET_SERVING):
            return
        request, usages = parsed(spec["request"]), spec.get("usages") or ()
        wrong = _refusal(spec, request)
        if wrong:
            self._fail(stored.name, wrong)
            return
        certificate = self._authority.sign(request, usages, spec.get("expirationSeconds"))
        encoded = base64.b64encode(certificate).decode()
        self._write(stored.name, {"certificate": encoded})

    def _fail(self, name: str, message: str) -> None:
        now = to_time(self.clock.now())
        stored = self.store.get(self.kind, name)
        conditions = (stored.document().get("status") or {}).get("conditions") or []
        failed = {
            "type": FAILED,
            "status": "True",
            "reason": "SignerValidationFailure",
            "message": message,
            "lastUpdateTime": now,
        }
        self._write(name, {"conditions": [*conditions, failed]})

    def _write(self, name: str, fields: Document) -> None:
        def change(document: Document) -> None:
            document["status"] = {**(document.get("status") or {}), **fields}

        self.store.modify(self.kind, name, change, writer=self.name, subresource="status")


def _refusal(spec: Document, request: "CertificateSigningRequest") -> str:
    """Why a signer does not sign a request; empty where it does."""
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    usages = set(spec.get("usages") or ())
    if spec["signerName"] == CLIENT:
        for usage in spec.get("usages") or ():
            if usage != "client auth" and usage not in OPTIONAL:
                return f"invalid usage for client certificate: {usage}"
        return "" if "client auth" in usages else "missing required usage for client certificate: client auth"
    if organizations(spec["request"]) != ["system:nodes"]:
        return "subject organization is not system:nodes"
    serving = spec["signerName"] == KUBELET_SERVING
    extension = [each.value for each in request.extensions if isinstance(each.value, x509.SubjectAlternativeName)]
    names = list(extension[0]) if extension else []
    if serving and not any(isinstance(name, x509.DNSName | x509.IPAddress) for name in names):
        return "DNS or IP subjectAltName is required"
    if names and not serving:
        return "DNS subjectAltNames are not allowed"
    needed = {"digital signature", "server auth" if serving else "client auth"}
    if usages not in (needed, needed | {"key encipherment"}):
        return f"usages did not match [{' '.join(sorted(needed | {'key encipherment'}))}]"
    common = request.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if not common or not str(common[0].value).startswith("system:node:"):
        return "subject common name does not begin with system:node:"
    return ""
