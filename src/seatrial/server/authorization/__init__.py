"""Authorization: RBAC, or everything is allowed."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.server.authorization.authorizer import Authorizer
    from seatrial.server.authorization.escalation import EscalationCheck
    from seatrial.server.authorization.rbac import RbacAuthorizer
    from seatrial.server.authorization.signers import SignerCheck
else:
    __getattr__, __dir__ = lazy_exports(__name__)
