"""Volcano's admission webhooks: defaults and validation of its kinds, and of pods that Volcano schedules.

Upstream: pkg/webhooks/admission. A webhook there is a pair of functions here, called by `VolcanoAdmission`.
"""

from seatrial.volcano.webhooks.admission import VolcanoAdmission
from seatrial.volcano.webhooks.denied import Denied
