"""Persistent volumes: which claim is bound to which volume, where, and how many fit on a node.

Upstream: pkg/scheduler/framework/plugins/volumebinding and pkg/controller/volume/persistentvolume/util (v1.36.3).
"""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.scheduler.volumes.claims import claim_references, class_of, foreign_claim, volume_name
else:
    __getattr__, __dir__ = lazy_exports(__name__)
