"""Extenders over TLS, with each of the settings a configuration may give."""

import base64
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import HTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from seatrial.server.auth.certificates import Certificates
from tests.extender_server import handler
from tests.scheduler.scheduler_world import World, profiles


class Quiet(HTTPServer):
    def handle_error(self, *_: Any) -> None:
        """A client that does not trust us hangs up."""


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates.in_directory(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate that vouches for itself, and its key."""
    folder = tmp_path_factory.mktemp("client")
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "us")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = folder / "us.crt", folder / "us.key"
    certificate.write_bytes(made.public_bytes(Encoding.PEM))
    secret.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return certificate, secret


@pytest.fixture
def served(certificates: Certificates, client: tuple[Path, Path], request: pytest.FixtureRequest) -> Iterator[str]:
    """An extender behind TLS; asked with the parameter True it wants to see a certificate."""
    context = certificates.context()
    if getattr(request, "param", False):
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(client[0])
    server = Quiet(("127.0.0.1", 0), handler(lambda verb, args: {"NodeNames": ["n2"]}))
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def decided(url: str, **settings: Any) -> Any:
    config = profiles({})
    extender = {"urlPrefix": url, "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "5s"}
    config["extenders"] = [{**extender, **settings}]
    world = World(config)
    world.node("n1")
    world.node("n2")
    world.pod("a")
    decision = world.run()[0]
    world.scheduler.close()
    return decision


def encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def test_an_authority_from_a_file_is_trusted(served: str, certificates: Certificates) -> None:
    assert decided(f"https://{served}", tlsConfig={"caFile": str(certificates.authority)}).node == "n2"


def test_an_authority_in_the_configuration_is_trusted(served: str, certificates: Certificates) -> None:
    assert decided(f"https://{served}", tlsConfig={"caData": encoded(certificates.authority)}).node == "n2"


def test_nobody_is_trusted_without_an_authority(served: str) -> None:
    decision = decided(f"https://{served}")
    assert decision.outcome == "error"
    assert "CERTIFICATE_VERIFY_FAILED" in decision.message


@pytest.mark.parametrize("settings", [{"tlsConfig": {"insecure": True}}, {"enableHTTPS": True}])
def test_trust_may_be_left_out(served: str, settings: Any) -> None:
    assert decided(f"https://{served}", **settings).node == "n2"


@pytest.mark.parametrize(("name", "node"), [("kubernetes.default.svc", "n2"), ("elsewhere", "")])
def test_the_other_end_must_have_the_name_that_is_given(
    served: str, certificates: Certificates, name: str, node: str
) -> None:
    tls = {"caFile": str(certificates.authority), "serverName": name}
    assert decided(f"https://{served}", tlsConfig=tls).node == node


@pytest.mark.parametrize("served", [True], indirect=True)
def test_a_certificate_of_our_own_is_shown(served: str, certificates: Certificates, client: tuple[Path, Path]) -> None:
    authority = {"caFile": str(certificates.authority)}
    files = {"certFile": str(client[0]), "keyFile": str(client[1])}
    data = {"certData": encoded(client[0]), "keyData": encoded(client[1])}
    shown = [decided(f"https://{served}", tlsConfig=authority | own).node for own in (files, data, {})]
    assert shown == ["n2", "n2", ""]


def test_an_authority_that_cannot_be_read_is_an_error(served: str) -> None:
    decision = decided(f"https://{served}", tlsConfig={"caFile": "no-such-file.crt"})
    assert (decision.outcome, "TLS settings" in decision.message) == ("error", True)
