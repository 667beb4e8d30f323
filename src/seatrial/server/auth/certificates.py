"""TLS for one machine: an authority of our own and a server certificate for 127.0.0.1, made once and kept."""

import datetime
import ipaddress
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from seatrial.model.errors import ConfigError
from seatrial.server.auth.state_files import write_private

REMADE = "new certificates are made, and clients need the new kubeconfig"
VALID_FOR = datetime.timedelta(days=3650)


@dataclass(frozen=True, slots=True)
class Certificates:
    """Where the files are."""

    authority: Path
    authority_key: Path
    certificate: Path
    key: Path

    @classmethod
    def in_directory(cls, directory: Path) -> "Certificates":
        """The certificates kept in a directory; made there at the first use."""
        names = ("ca.crt", "ca.key", "server.crt", "server.key")
        found = cls(*(directory / name for name in names))
        missing = [name for name in names if not (directory / name).exists()]
        if not missing:
            return found
        if directory.exists() and any(directory.iterdir()):
            # A new authority would turn away every client that trusts the old one.
            why = "the file is missing, and others beside it are there; put it back, or remove the folder: " + REMADE
            raise ConfigError(str(directory / missing[0]), "", why)
        try:
            directory.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.TemporaryDirectory(dir=directory.parent, prefix=f".{directory.name}-") as folder:
                cls(*(Path(folder, name) for name in names))._make()
                Path(folder).rename(directory)
        except OSError as error:
            raise ConfigError(str(directory), "", f"cannot be written: {error.strerror or error}") from error
        return found

    def context(self) -> ssl.SSLContext:
        """A server-side TLS context, which takes client certificates that the authority signed.

        ConfigError where the files are damaged.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(self.certificate, self.key)
            context.load_verify_locations(self.authority)
            authority = x509.load_pem_x509_certificate(self.authority.read_bytes())
            x509.load_pem_x509_certificate(self.certificate.read_bytes()).verify_directly_issued_by(authority)
            key = serialization.load_pem_private_key(self.authority_key.read_bytes(), None)
            if key.public_key() != authority.public_key():
                raise ValueError("the key of the authority is another one's")
        except (OSError, ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm) as error:
            why = f"the certificates are damaged ({error}); remove the folder: {REMADE}"
            raise ConfigError(str(self.key.parent), "", why) from error
        context.verify_mode = ssl.CERT_OPTIONAL
        return context

    def _make(self) -> None:
        authority_key, server_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "seatrial-ca")])
        authority = (
            _builder(issuer, issuer, authority_key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_key_usage(signs_certificates=True), critical=True)
            .sign(authority_key, hashes.SHA256())
        )
        names = [x509.DNSName(name) for name in ("localhost", "kubernetes", "kubernetes.default.svc")]
        addresses = [x509.IPAddress(ipaddress.ip_address(a)) for a in ("127.0.0.1", "::1")]
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "seatrial")])
        certificate = (
            _builder(subject, issuer, server_key.public_key())
            .add_extension(x509.SubjectAlternativeName([*names, *addresses]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), critical=False
            )
            .sign(authority_key, hashes.SHA256())
        )
        for path, key in ((self.key, server_key), (self.authority_key, authority_key)):
            pem = key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            write_private(path, pem)
        write_private(self.certificate, certificate.public_bytes(serialization.Encoding.PEM))
        write_private(self.authority, authority.public_bytes(serialization.Encoding.PEM))


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    start = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + VALID_FOR)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )
