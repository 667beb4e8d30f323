"""CertificateSigningRequests: the request, its usages and signer, and the conditions each subresource may change.

Upstream: pkg/apis/certificates/validation/validation.go.
"""

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Iterator
from math import inf
from typing import TYPE_CHECKING

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, forbidden, invalid, required, too_long, unsupported
from seatrial.store.object_meta import label_faults, subdomain_faults
from seatrial.store.validation.rules import among, items, need, present, ranged, rules

if TYPE_CHECKING:
    from cryptography.x509 import CertificateSigningRequest

USAGES = (
    "any,cert sign,client auth,code signing,content commitment,crl sign,data encipherment,decipher only,"
    "digital signature,email protection,encipher only,ipsec end system,ipsec tunnel,ipsec user,key agreement,"
    "key encipherment,microsoft sgc,netscape sgc,ocsp signing,s/mime,server auth,signing,timestamping"
)
APPROVED, DENIED, FAILED = "Approved", "Denied", "Failed"
LEGACY_SIGNER = "kubernetes.io/legacy-unknown"
LONGEST_DOMAIN, LONGEST_SIGNER = 253, 571
_CONDITIONS = "status.conditions"


def create_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a new request."""
    yield from _SPEC(document.get("spec") or {}, "spec")
    yield from _conditions(document)


def update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Errors of an update, by the subresource it is made through."""
    yield from _conditions(document)
    for type in (APPROVED, DENIED, FAILED):
        if len(_of_type(document, type)) < len(_of_type(old, type)):
            yield forbidden(_CONDITIONS, f'updates may not remove a condition of type "{type}"')
    if subresource != "approval":
        for type in (APPROVED, DENIED):
            now, before = _of_type(document, type), _of_type(old, type)
            if len(now) > len(before):
                yield forbidden(_CONDITIONS, f'updates may not add a condition of type "{type}"')
    certificate = (document.get("status") or {}).get("certificate")
    issued = (old.get("status") or {}).get("certificate")
    if certificate != issued:
        if subresource != "status":
            yield forbidden("status.certificate", "updates may not set certificate content")
        elif issued:
            yield forbidden("status.certificate", "updates may not modify existing certificate content")
        elif certificate and not _is_certificate(certificate):
            why = "must contain at least one CERTIFICATE PEM block"
            yield invalid("status.certificate", "<certificate data>", why)


def parsed(request: str) -> "CertificateSigningRequest":
    """The PKCS#10 request in a spec; ValueError if it cannot be read."""
    from cryptography import x509

    try:
        pem = base64.b64decode(request)
    except binascii.Error:
        pem = b""
    if b"-----BEGIN CERTIFICATE REQUEST-----" not in pem:
        raise ValueError("PEM block type must be CERTIFICATE REQUEST")
    return x509.load_pem_x509_csr(pem)


def organizations(request: str) -> list[str]:
    """The organizations in the subject of a request; they become groups."""
    from cryptography.x509.oid import NameOID

    try:
        subject = parsed(request).subject
    except ValueError:
        return []
    return [str(attribute.value) for attribute in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]


def _request(spec: Document) -> Iterator[Cause]:
    try:
        request = parsed(spec.get("request") or "")
        wrong = "" if request.is_signature_valid else "x509: the signature does not match"
    except ValueError as error:
        wrong = str(error)
    if wrong:
        yield invalid("spec.request", spec.get("request") or None, wrong)


def _signer(name: str, path: str) -> Iterator[Cause]:
    if name == LEGACY_SIGNER:
        yield invalid(path, name, "the legacy signerName is not allowed via this API version")
        return
    domain, slash, rest = name.partition("/")
    if not slash or "/" in rest:
        yield invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
        return
    if len(domain) > LONGEST_DOMAIN:
        yield too_long(path, LONGEST_DOMAIN)
    yield from _label_causes(path, domain, label_faults)
    if "." not in domain:
        yield invalid(path, domain, "should be a domain with at least two segments separated by dots")
    yield from _label_causes(path, rest, subdomain_faults)
    if len(name) > LONGEST_SIGNER:
        yield too_long(path, LONGEST_SIGNER)


def _label_causes(path: str, part: str, faults_of: Callable[[str], Iterable[str]]) -> Iterator[Cause]:
    """What is wrong with the first label of a part that has faults."""
    for label in part.split("."):
        faults = list(faults_of(label))
        if faults:
            quoted = json.dumps(label, ensure_ascii=False)
            yield from (invalid(path, part, f"validating label {quoted}: {fault}") for fault in faults)
            return


_SPEC = rules(
    lambda spec, path: _request(spec),
    need("usages", items(among(*USAGES.split(","))), items(unique="")),
    need("signerName", _signer),
    present("expirationSeconds", ranged(600, inf, "may not specify a duration less than 600 seconds (10 minutes)")),
)


def _conditions(document: Document) -> Iterator[Cause]:
    seen: set[str] = set()
    for number, condition in enumerate((document.get("status") or {}).get("conditions") or ()):
        type, status = condition.get("type", ""), condition.get("status", "")
        here = f"{_CONDITIONS}[{number}]"
        if not type:
            yield required(f"{here}.type")
        allowed = ("True",) if type in (APPROVED, DENIED, FAILED) else ("False", "True", "Unknown")
        if not status:
            yield required(f"{here}.status")
        elif status not in allowed:
            yield unsupported(f"{here}.status", status, allowed)
        if {APPROVED, DENIED} <= seen | {type} and type in (APPROVED, DENIED):
            yield invalid(_CONDITIONS, type, "Approved and Denied conditions are mutually exclusive")
        if type in seen:
            yield duplicate(f"{here}.type", type)
        seen.add(type)


def _of_type(document: Document, type: str) -> list[Document]:
    conditions = (document.get("status") or {}).get("conditions") or ()
    return [condition for condition in conditions if condition.get("type") == type]


def _is_certificate(encoded: str) -> bool:
    try:
        return b"-----BEGIN CERTIFICATE-----" in base64.b64decode(encoded)
    except binascii.Error:
        return False
