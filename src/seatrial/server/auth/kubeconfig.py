"""The kubeconfig that `serve` writes: one cluster, and the administrator by token and by client certificate.

client-go sends no token over plain HTTP (tools/clientcmd reads user data for https only), so a server that wants
tokens has to speak TLS for kubectl's sake.
"""

import base64
import json
import os
from pathlib import Path
from typing import Any

import yaml

from seatrial.server.auth.state_files import write_private

CERTIFICATE_USER = "seatrial-certificate"
"""The user and context that show a client certificate."""


def write_kubeconfig(
    path: Path,
    server: str,
    token: str,
    authority: Path | None,
    certificate: tuple[bytes, bytes] | None = None,
    *,
    as_json: bool = False,
) -> None:
    """Write the kubeconfig, readable by its owner alone, in one step; `certificate` comes with its key.

    JSON is read without any library.
    """
    cluster: dict[str, str] = {"server": server}
    if authority is not None:
        cluster["certificate-authority-data"] = base64.b64encode(authority.read_bytes()).decode()
    user = {"token": token} if token else {}
    document: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "seatrial", "cluster": cluster}],
        "users": [{"name": "seatrial", "user": user}],
        "contexts": [{"name": "seatrial", "context": {"cluster": "seatrial", "user": "seatrial"}}],
        "current-context": "seatrial",
        "preferences": {},
    }
    if certificate is not None:
        pair = ("client-certificate-data", "client-key-data")
        by_certificate = {key: base64.b64encode(pem).decode() for key, pem in zip(pair, certificate, strict=True)}
        document["users"].append({"name": CERTIFICATE_USER, "user": by_certificate})
        context = {"cluster": "seatrial", "user": CERTIFICATE_USER}
        document["contexts"].append({"name": CERTIFICATE_USER, "context": context})
    text = json.dumps(document) if as_json else yaml.safe_dump(document, sort_keys=False)
    write_private(path, text.encode())


def default_path(data_dir: Path | None, port: int) -> Path:
    """The default path of the kubeconfig."""
    return state_directory(data_dir, port) / "kubeconfig"


def state_directory(data_dir: Path | None, port: int) -> Path:
    """Where tokens and certificates of a server are kept."""
    if data_dir is not None:
        return data_dir
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(home) / "seatrial" / str(port)
