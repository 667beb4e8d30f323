"""Authentication: tokens, certificates, and the kubeconfig that carries them."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.server.auth.authentication import ADMIN, AUTHENTICATED, Identities
    from seatrial.server.auth.certificates import Certificates
    from seatrial.server.auth.kubeconfig import default_path, state_directory, write_kubeconfig
    from seatrial.server.auth.signing import Authority, kept_credentials
    from seatrial.server.auth.state_files import kept_secret, write_private
else:
    __getattr__, __dir__ = lazy_exports(__name__)
