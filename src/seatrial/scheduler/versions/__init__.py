"""The minor versions of kube-scheduler that are simulated, as records."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.scheduler.versions.known import DEFAULT, VERSIONS, find_version
    from seatrial.scheduler.versions.version import Gate, ImageVolumes, Rules, Version
else:
    __getattr__, __dir__ = lazy_exports(__name__)
