"""Authorization: RBAC, or everything is allowed."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.server.authorization.authorizer import Authorizer
    from seatrial.server.authorization.escalation import EscalationCheck
    from seatrial.server.authorization.rbac import RbacAuthorizer
    from seatrial.server.authorization.signers import SignerCheck

__all__ = ["Authorizer", "EscalationCheck", "RbacAuthorizer", "SignerCheck"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Authorizer": "authorizer",
            "EscalationCheck": "escalation",
            "RbacAuthorizer": "rbac",
            "SignerCheck": "signers",
        },
    )
