"""Lets a server reach the webhooks of a program that runs beside it instead of in the pod of its Deployment.

What the cluster would do for the pod is done here: an endpoint for its Service, and the files of its Secret.
"""

import base64
import socket
from pathlib import Path
from typing import Any

from tests.outside.processes import Kubectl, wait_until
from tests.outside.zoo.programs import PATIENCE

MOUNTED = Path("/tmp/k8s-webhook-server/serving-certs")
"""Where the manifests of many programs mount the certificate of their webhooks; the path is fixed in the programs."""


def own_address() -> str:
    """An address of this machine that an EndpointSlice may name: not that of loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing
        return str(probe.getsockname()[0])


def endpoint(namespace: str, service: str, port: int) -> dict[str, Any]:
    """An EndpointSlice that names a port of this machine."""
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": f"{service}-here",
            "namespace": namespace,
            "labels": {"kubernetes.io/service-name": service},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [own_address()], "conditions": {"ready": True}}],
        "ports": [{"name": "", "port": port, "protocol": "TCP"}],
    }


def mount(kubectl: Kubectl, namespace: str, secret: str) -> None:
    """Write the files of a Secret once the program has filled it; the certificate, which it waits for, comes last."""

    def data() -> dict[str, str]:
        found: dict[str, str] = kubectl.json("get", "secret", secret, "--namespace", namespace).get("data") or {}
        return found

    wait_until(lambda: "tls.crt" in data(), PATIENCE, f"the secret {secret} has a certificate")
    MOUNTED.mkdir(parents=True, exist_ok=True)
    for name, content in sorted(data().items(), key=lambda item: item[0] == "tls.crt"):
        (MOUNTED / name).write_bytes(base64.b64decode(content))
