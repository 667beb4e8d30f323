"""The server's certificate authority: signs certificate requests, and reads the user from a client's certificate.

Upstream: pkg/controller/certificates/authority/policies.go and k8s.io/apiserver/pkg/authentication/request/x509.
"""

import datetime
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

from seatrial.model.errors import ConfigError
from seatrial.server.auth.impersonation import AUTHENTICATED
from seatrial.server.auth.state_files import write_private
from seatrial.store import User

LONGEST = datetime.timedelta(days=365)
LONGEST_OWN = datetime.timedelta(days=3650)
"""The administrator's certificate lasts as long as the server's own."""
BACKDATED = datetime.timedelta(minutes=5)
KEY_USAGES = {
    "signing": "digital_signature",
    "digital signature": "digital_signature",
    "content commitment": "content_commitment",
    "key encipherment": "key_encipherment",
    "key agreement": "key_agreement",
    "data encipherment": "data_encipherment",
    "cert sign": "key_cert_sign",
    "crl sign": "crl_sign",
}
FLAGS = (*dict.fromkeys(KEY_USAGES.values()), "encipher_only", "decipher_only")
EXTENDED_USAGES: Mapping[str, ObjectIdentifier] = {
    "any": ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,
    "server auth": ExtendedKeyUsageOID.SERVER_AUTH,
    "client auth": ExtendedKeyUsageOID.CLIENT_AUTH,
    "code signing": ExtendedKeyUsageOID.CODE_SIGNING,
    "email protection": ExtendedKeyUsageOID.EMAIL_PROTECTION,
    "timestamping": ExtendedKeyUsageOID.TIME_STAMPING,
    "ocsp signing": ExtendedKeyUsageOID.OCSP_SIGNING,
}


class Authority:
    """A certificate with the key that signs others."""

    def __init__(self, certificate: Path, key: Path) -> None:
        self.pem = certificate.read_bytes()
        self._certificate = x509.load_pem_x509_certificate(self.pem)
        loaded = serialization.load_pem_private_key(key.read_bytes(), None)
        assert isinstance(loaded, ec.EllipticCurvePrivateKey)
        self._key = loaded

    def sign(
        self,
        request: x509.CertificateSigningRequest,
        usages: Iterable[str],
        seconds: int | None,
        longest: datetime.timedelta = LONGEST,
    ) -> bytes:
        """The certificate (PEM) for a request; it lasts as long as requested, at most a year by default."""
        lasts = longest if seconds is None else min(longest, datetime.timedelta(seconds=max(seconds, 600)))
        now = datetime.datetime.now(datetime.UTC)
        wanted = tuple(usages)
        builder = (
            x509.CertificateBuilder()
            .subject_name(request.subject)
            .issuer_name(self._certificate.subject)
            .public_key(request.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - BACKDATED)
            .not_valid_after(min(now + lasts, self._certificate.not_valid_after_utc))
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        if any(usage in KEY_USAGES for usage in wanted):
            builder = builder.add_extension(_key_usage(wanted), critical=True)
        if extended := [EXTENDED_USAGES[usage] for usage in wanted if usage in EXTENDED_USAGES]:
            builder = builder.add_extension(x509.ExtendedKeyUsage(extended), critical=False)
        for extension in request.extensions:
            if isinstance(extension.value, x509.SubjectAlternativeName):
                builder = builder.add_extension(extension.value, extension.critical)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def client_credentials(self, user: str, group: str) -> tuple[bytes, bytes]:
        """A client certificate for a user in a group, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name(
            [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group), x509.NameAttribute(NameOID.COMMON_NAME, user)]
        )
        request = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
        certificate = self.sign(request, ("digital signature", "key encipherment", "client auth"), None, LONGEST_OWN)
        encoded = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return certificate, encoded

    def check_credentials(self, certificate: bytes, key: bytes) -> None:
        """Raise unless a client certificate is one of this authority, with its key."""
        loaded = x509.load_pem_x509_certificate(certificate)
        loaded.verify_directly_issued_by(self._certificate)
        if serialization.load_pem_private_key(key, None).public_key() != loaded.public_key():
            raise ValueError("the key is that of another certificate")


def kept_credentials(authority: Authority, directory: Path, user: str, group: str) -> tuple[bytes, bytes]:
    """The client certificate of a user and its key, kept in a directory and made at the first use."""
    paths = directory / "client.crt", directory / "client.key"
    if not all(path.exists() for path in paths):
        for path, content in zip(paths, authority.client_credentials(user, group), strict=True):
            write_private(path, content)
    try:
        certificate, key = (path.read_bytes() for path in paths)
        authority.check_credentials(certificate, key)
    except (OSError, ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm) as error:
        why = f"this or {paths[0].name} is damaged ({error}); remove both, and new ones are made"
        raise ConfigError(str(paths[1]), "", why) from error
    return certificate, key


def _key_usage(usages: Iterable[str]) -> x509.KeyUsage:
    flags: dict[str, Any] = dict.fromkeys(FLAGS, False)
    return x509.KeyUsage(**(flags | {KEY_USAGES[usage]: True for usage in usages if usage in KEY_USAGES}))


def user_of_certificate(peer: Mapping[str, Any] | None) -> User | None:
    """The user of a client certificate that TLS has verified: common name, and organizations as groups."""
    subject = [pair for part in (peer or {}).get("subject", ()) for pair in part]
    name = next((value for key, value in subject if key == "commonName"), "")
    if not name:
        return None
    groups = tuple(value for key, value in subject if key == "organizationName")
    return User(name, (*groups, AUTHENTICATED))
