"""How a webhook refuses a write.

Upstream: ToStatusErr of k8s.io/apiserver/pkg/admission/plugin/webhook/errors.
"""

from seatrial.model.errors import StatusError


class Denied(StatusError):
    """The answer that kube-apiserver gives for a webhook that says no: code 400 without a reason."""

    code, reason = 400, ""

    def __init__(self, webhook: str, why: str) -> None:
        super().__init__(f'admission webhook "{webhook}" denied the request: {why}')
