"""Authentication: tokens, certificates, and the kubeconfig that carries them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.server.auth.authentication import ADMIN, AUTHENTICATED, Identities
    from seatrial.server.auth.certificates import Certificates
    from seatrial.server.auth.kubeconfig import default_path, state_directory, write_kubeconfig
    from seatrial.server.auth.signing import Authority, kept_credentials
    from seatrial.server.auth.state_files import kept_secret

__all__ = [
    "ADMIN",
    "AUTHENTICATED",
    "Authority",
    "Certificates",
    "Identities",
    "default_path",
    "kept_credentials",
    "kept_secret",
    "state_directory",
    "write_kubeconfig",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "ADMIN": "authentication",
            "AUTHENTICATED": "authentication",
            "Authority": "signing",
            "Certificates": "certificates",
            "Identities": "authentication",
            "default_path": "kubeconfig",
            "kept_credentials": "signing",
            "kept_secret": "state_files",
            "state_directory": "kubeconfig",
            "write_kubeconfig": "kubeconfig",
        },
    )
