"""ssh: the pods of a Job log in to each other with a key pair that is mounted from a Secret.

Upstream: pkg/controllers/job/plugins/ssh. There the key is a random RSA key; here it is one of an elliptic curve that
follows from the uid of the Job, so that a run repeats itself.
"""

import hashlib
from base64 import b64encode

from seatrial.model.documents import Document
from seatrial.volcano.controllers.job.plugins.interface import JobPlugin, Owner, containers_of, hosts_of

SECRET = ("v1", "Secret")
PRIVATE, PUBLIC, AUTHORIZED, CONFIG = "id_rsa", "id_rsa.pub", "authorized_keys", "config"
HOME, FOLDER = "/root/.ssh", ".ssh"
FOR_ROOT, FOR_ALL = 0o600, 0o644
DEFAULT_PORT, LAST_PORT = 22, 65535


class Ssh(JobPlugin):
    """The Secret, and its mount in every container."""

    def on_pod_create(self, job: Document, pod: Document) -> None:
        name, path = _secret(job), self.flag("ssh-key-file-path", HOME)
        items = [{"key": key, "path": f"{FOLDER}/{key}"} for key in (PRIVATE, PUBLIC, AUTHORIZED, CONFIG)]
        mode = FOR_ROOT if path == HOME else FOR_ALL
        source = {"secretName": name, "items": items, "defaultMode": mode}
        pod["spec"].setdefault("volumes", []).append({"name": name, "secret": source})
        for container in containers_of(pod):
            container.setdefault("volumeMounts", []).append({"mountPath": path, "subPath": FOLDER, "name": name})

    def on_job_add(self, owner: Owner, job: Document) -> None:
        private, public = self.flag("ssh-private-key"), self.flag("ssh-public-key")
        if not private:
            private, public = _key_pair(job["metadata"]["uid"])
        files = {PRIVATE: private, PUBLIC: public, AUTHORIZED: public, CONFIG: _config(job, self._port())}
        data = {name: b64encode(text.encode()).decode() for name, text in files.items()}
        owner.create_or_update(job, SECRET, _secret(job), data)

    def on_job_delete(self, owner: Owner, job: Document) -> None:
        owner.delete(job, SECRET, _secret(job))

    def _port(self) -> int:
        text = self.flag("ssh-port", str(DEFAULT_PORT))
        port = int(text) if text.isascii() and text.isdigit() else DEFAULT_PORT
        return port if 0 < port <= LAST_PORT else DEFAULT_PORT


def _secret(job: Document) -> str:
    return f"{job['metadata']['name']}-ssh"


def _key_pair(uid: str) -> tuple[str, str]:
    """A private key, and its public key as authorized_keys has it."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    number = int.from_bytes(hashlib.sha256(uid.encode()).digest()) >> 1 | 1  # below the order of the curve
    key = ec.derive_private_key(number, ec.SECP256R1())
    encoding, form = serialization.Encoding, serialization.PrivateFormat.TraditionalOpenSSL
    private = key.private_bytes(encoding.PEM, form, serialization.NoEncryption())
    public = key.public_key().public_bytes(encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return private.decode(), public.decode() + "\n"


def _config(job: Document, port: int) -> str:
    lines = ["StrictHostKeyChecking no", "UserKnownHostsFile /dev/null"]
    for task in job["spec"]["tasks"]:
        for host, subdomain in hosts_of(job, task):
            lines += [f"Host {host}", f"  HostName {host}.{subdomain}", f"  Port {port}"]
    return "\n".join(lines) + "\n"
