"""Admission that users configure: webhooks, and policies in CEL."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.server.admission.mutating_policies import MutatingPolicyAdmission
    from seatrial.server.admission.policies import PolicyAdmission
    from seatrial.server.admission.webhooks import WebhookAdmission
else:
    __getattr__, __dir__ = lazy_exports(__name__)
