"""Whether a name is that of an extended resource.

Upstream: pkg/apis/core/v1/helper/helpers.go (v1.36.3).
"""

from seatrial.model.label_selectors import label_key_faults


def is_extended_resource(name: str) -> bool:
    """Whether the name is of a resource outside kubernetes.io that can be counted."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not label_key_faults(f"requests.{name}")
