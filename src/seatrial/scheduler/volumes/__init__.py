"""Persistent volumes: which claim is bound to which volume, where, and how many fit on a node.

Upstream: pkg/scheduler/framework/plugins/volumebinding and pkg/controller/volume/persistentvolume/util (v1.36.3).
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.scheduler.volumes.claims import claim_references, class_of, foreign_claim, volume_name

__all__ = ["claim_references", "class_of", "foreign_claim", "volume_name"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(__name__, dict.fromkeys(__all__, "claims"))
