"""PersistentVolumes and claims, all that is done about them as one controller."""

from typing import ClassVar

from seatrial.controllers.framework.controller import Ensemble
from seatrial.controllers.persistentvolume.binder import Binder
from seatrial.controllers.persistentvolume.ephemeral import EphemeralClaims
from seatrial.controllers.persistentvolume.protection import Protection


class PersistentVolume(Ensemble):
    """Binds, provisions, protects."""

    name: ClassVar[str] = "persistentvolume"
    parts = (EphemeralClaims, Binder, Protection)
