"""API defaulting: what a kube-apiserver fills in before it admits an object."""

from seatrial.model.defaults.gated_fields import GatedFields
from seatrial.model.defaults.walking import apply_defaults
