"""A real etcd and kube-apiserver on loopback, and a small HTTP client that speaks to it and to `seatrial serve`."""

import http.client
import json
import socket
import ssl
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from scripts.build_kubernetes import ensure

TOKEN = "secret"
STARTS_WITHIN = 90.0


@dataclass
class Reply:
    """A whole answer."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name]


class Client:
    """Requests of one user to one server, on one connection."""

    def __init__(self, port: int, token: str = TOKEN) -> None:
        self.port = port
        self._token = token
        self._connection: http.client.HTTPSConnection | None = None

    def request(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Reply:
        """One request; a body that is no bytes is sent as JSON."""
        sent = {
            "Authorization": f"Bearer {self._token}",
            "User-Agent": "differential/1.0",
            "Accept": "application/json",
        }
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent |= headers or {}
        for _ in range(2):
            try:
                return self._send(method, path, body, {key: value for key, value in sent.items() if value})
            except (http.client.HTTPException, ConnectionError):
                self.close()
        return self._send(method, path, body, sent)

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Reply:
        if self._connection is None:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            self._connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=60)
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        return Reply(answer.status, answer.getheaders(), answer.read())


class RealApiserver:
    """etcd and kube-apiserver with RBAC, a token for an administrator, and default admission."""

    def __init__(self, directory: Path, *flags: str) -> None:
        self._directory = directory
        self._flags = flags
        self._processes: list[subprocess.Popen[bytes]] = []
        self.port = 0
        self.client = Client(0)

    def __enter__(self) -> Self:
        programs = ensure(("etcd", "kube-apiserver"))
        etcd, peer, self.port = (_free_port() for _ in range(3))
        store = f"http://127.0.0.1:{etcd}"
        self._start(
            "etcd",
            str(programs / "etcd"),
            *("--data-dir", str(self._directory / "etcd"), "--log-level", "error"),
            *("--listen-client-urls", store, "--advertise-client-urls", store),
            *("--listen-peer-urls", f"http://127.0.0.1:{peer}", "--unsafe-no-fsync"),
        )
        key = self._directory / "sa.key"
        key.write_bytes(_private_key())
        tokens = self._directory / "tokens"
        tokens.write_text(f'{TOKEN},kubernetes-admin,,"system:masters"\n')
        self._start(
            "kube-apiserver",
            str(programs / "kube-apiserver"),
            *("--etcd-servers", store, "--bind-address", "127.0.0.1", "--secure-port", str(self.port)),
            *("--cert-dir", str(self._directory / "certs"), "--token-auth-file", str(tokens)),
            *("--service-account-key-file", str(key), "--service-account-signing-key-file", str(key)),
            *("--service-account-issuer", "https://kubernetes.default.svc"),
            *("--service-cluster-ip-range", "10.96.0.0/12", "--authorization-mode", "RBAC"),
            *("--anonymous-auth=false", *self._flags),
        )
        self.client = Client(self.port)
        try:
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.client.close()
        for process in reversed(self._processes):
            process.terminate()
            process.wait(30)

    def request(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Reply:
        """One request of the administrator."""
        return self.client.request(method, path, body, headers)

    def _start(self, name: str, *command: str) -> None:
        with (self._directory / f"{name}.log").open("wb") as log:
            self._processes.append(subprocess.Popen(command, stdout=log, stderr=log))

    def _wait(self) -> None:
        end = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < end:
            try:
                if self.request("GET", "/readyz").status == 200:
                    return
            except OSError:
                pass
            if any(process.poll() is not None for process in self._processes):
                break
            time.sleep(0.2)
        raise AssertionError(f"kube-apiserver is not ready; see {self._directory}")


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def _private_key() -> bytes:
    key = rsa.generate_private_key(65537, 2048)
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
