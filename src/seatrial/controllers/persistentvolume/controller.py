"""The PersistentVolume controllers as one: binding, provisioning, ephemeral claims, protection."""

from typing import ClassVar

from seatrial.controllers.framework.controller import Ensemble
from seatrial.controllers.persistentvolume.binder import Binder
from seatrial.controllers.persistentvolume.ephemeral import EphemeralClaims
from seatrial.controllers.persistentvolume.protection import Protection


class PersistentVolume(Ensemble):
    """Binds, provisions and protects volumes and claims."""

    name: ClassVar[str] = "persistentvolume"
    parts = (EphemeralClaims, Binder, Protection)
