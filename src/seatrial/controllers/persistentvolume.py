"""PersistentVolumes and claims, all that is done about them as one controller."""

from typing import ClassVar

from seatrial.controllers.controller import Ensemble
from seatrial.controllers.volumes.binder import Binder
from seatrial.controllers.volumes.ephemeral import EphemeralClaims
from seatrial.controllers.volumes.protection import Protection


class PersistentVolume(Ensemble):
    """Binds, provisions, protects."""

    name: ClassVar[str] = "persistentvolume"
    parts = (EphemeralClaims, Binder, Protection)
