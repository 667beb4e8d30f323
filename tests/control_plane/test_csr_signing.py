"""Certificate requests: who asked, who may approve, and what is signed."""

import base64
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from seatrial.clock.virtual import Clock
from seatrial.control_plane.csr_signing import CertificateSigner
from seatrial.controllers.framework.controller import Context
from seatrial.controllers.framework.pod_index import PodIndex
from seatrial.server.auth.certificates import Certificates
from seatrial.server.auth.signing import Authority, user_of_certificate
from seatrial.server.authorization.signers import SignerCheck
from tests.server.authorization.roles import grant, rule
from tests.server.client import Server

PATH = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
CLIENT = "kubernetes.io/kube-apiserver-client"


def pem(common_name: str, *organizations: str) -> bytes:
    names = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, name) for name in organizations]
    subject = x509.Name([*names, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    request = x509.CertificateSigningRequestBuilder().subject_name(subject)
    signed = request.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return signed.public_bytes(serialization.Encoding.PEM)


def request(encoded: bytes, signer: str = CLIENT, usages: tuple[str, ...] = ("client auth",)) -> dict[str, Any]:
    spec = {"request": base64.b64encode(encoded).decode(), "signerName": signer, "usages": list(usages)}
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "dora"},
        "spec": spec,
    }


def approve(server: Server, **headers: str) -> Any:
    document = server("GET", f"{PATH}/dora").json()
    document["status"] = {"conditions": [{"type": "Approved", "status": "True", "reason": "Fine"}]}
    return server("PUT", f"{PATH}/dora/approval", document, **headers)


class Signed:
    def __init__(self, directory: Path) -> None:
        self.server = Server(rbac=True)
        store = self.server.store
        certificates = Certificates.in_directory(directory)
        authority = Authority(certificates.authority, certificates.authority_key)
        self.authority = x509.load_pem_x509_certificate(authority.pem)
        self.signer = CertificateSigner(Context(store, Clock(), PodIndex(store)), authority)
        self.signer.start()

    def status(self) -> dict[str, Any]:
        while self.signer.work():
            pass
        status: dict[str, Any] = self.server("GET", f"{PATH}/dora").json()["status"]
        return status


@pytest.fixture
def signed(tmp_path: Path) -> Signed:
    return Signed(tmp_path)


def test_the_requester_is_recorded_and_a_claim_dropped(signed: Signed) -> None:
    body = request(pem("dora"))
    body["spec"] |= {"username": "mallory", "groups": ["system:masters"], "uid": "9"}
    grant(signed.server, "ann", rule("create", "certificatesigningrequests", "certificates.k8s.io"))
    created = signed.server("POST", PATH, body, impersonate_user="ann")
    assert created.status == 201
    spec = created.json()["spec"]
    assert (spec["username"], spec["groups"], "uid" in spec) == ("ann", ["system:authenticated"], False)


def test_an_approved_request_gets_a_certificate_of_the_authority(signed: Signed) -> None:
    signed.server("POST", PATH, request(pem("dora", "crew")))
    assert "certificate" not in signed.status()
    approve(signed.server)
    certificate = x509.load_pem_x509_certificate(base64.b64decode(signed.status()["certificate"]))
    certificate.verify_directly_issued_by(signed.authority)
    assert certificate.subject.rfc4514_string() == "CN=dora,O=crew"


def test_a_usage_that_the_signer_does_not_know_fails_the_request(signed: Signed) -> None:
    signed.server("POST", PATH, request(pem("dora"), usages=("client auth", "server auth")))
    approve(signed.server)
    failed = signed.status()["conditions"][-1]
    assert (failed["type"], failed["message"]) == ("Failed", "invalid usage for client certificate: server auth")


def test_a_kubelets_request_must_be_of_a_node(signed: Signed) -> None:
    usages = ("digital signature", "client auth")
    body = request(pem("dora", "system:nodes"), "kubernetes.io/kube-apiserver-client-kubelet", usages)
    signed.server("POST", PATH, body)
    approve(signed.server)
    assert signed.status()["conditions"][-1]["message"] == "subject common name does not begin with system:node:"


def test_no_certificate_is_given_for_system_masters(signed: Signed) -> None:
    refused = signed.server("POST", PATH, request(pem("dora", "system:masters")))
    assert refused.status == 403
    assert "with system:masters group is not allowed" in refused.json()["message"]


def test_what_is_no_request_is_invalid(signed: Signed) -> None:
    refused = signed.server("POST", PATH, request(b"nonsense", "bad", ("flying", "signing", "signing")))
    assert refused.status == 422
    fields = [cause["field"] for cause in refused.json()["details"]["causes"]]
    assert fields == ["spec.request", "spec.usages[0]", "spec.usages[2]", "spec.signerName"]


def test_a_request_does_not_change_after_its_creation(signed: Signed) -> None:
    document = signed.server("POST", PATH, request(pem("dora"))).json()
    document["spec"]["usages"] = ["server auth"]
    document["metadata"]["labels"] = {"a": "b"}
    changed = signed.server("PUT", f"{PATH}/dora", document).json()
    assert (changed["spec"]["usages"], changed["metadata"]["labels"]) == (["client auth"], {"a": "b"})


def test_approving_needs_the_verb_on_the_signer(signed: Signed) -> None:
    server = signed.server
    assert server.authorizer is not None
    server.store.admission = SignerCheck(server.store.admission, server.authorizer)
    server("POST", PATH, request(pem("dora")))
    grant(server, "ann", rule("update", "certificatesigningrequests/approval", "certificates.k8s.io"))
    refused = approve(server, impersonate_user="ann")
    assert refused.status == 403
    assert refused.json()["message"].endswith(f'user not permitted to approve requests with signerName "{CLIENT}"')
    approver = rule("approve", "signers", "certificates.k8s.io", names="kubernetes.io/*")
    grant(server, "bob", rule("update", "certificatesigningrequests/approval", "certificates.k8s.io"), approver)
    assert approve(server, impersonate_user="bob").status == 200


def test_a_client_certificate_names_its_user_and_groups() -> None:
    peer = {"subject": ((("organizationName", "crew"),), (("commonName", "dora"),))}
    user = user_of_certificate(peer)
    assert user is not None
    assert (user.name, user.groups) == ("dora", ("crew", "system:authenticated"))
    assert user_of_certificate(None) is None
