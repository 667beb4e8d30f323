"""The versions of Volcano that are simulated, as records."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.volcano.versions.known import DEFAULT, VERSIONS, find_version
    from seatrial.volcano.versions.version import Rules, Version
else:
    __getattr__, __dir__ = lazy_exports(__name__)
