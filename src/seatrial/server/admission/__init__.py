"""Admission that users configure: webhooks, and policies in CEL."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.server.admission.mutating_policies import MutatingPolicyAdmission
    from seatrial.server.admission.policies import PolicyAdmission
    from seatrial.server.admission.webhooks import WebhookAdmission

__all__ = ["MutatingPolicyAdmission", "PolicyAdmission", "WebhookAdmission"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "MutatingPolicyAdmission": "mutating_policies",
            "PolicyAdmission": "policies",
            "WebhookAdmission": "webhooks",
        },
    )
