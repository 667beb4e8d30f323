"""Lifecycles by stages: pods, and whatever else Stage objects in the cluster are for."""

from typing import ClassVar

from seatrial.controllers.framework.controller import Ensemble
from seatrial.controllers.stages.lifecycle import OtherLifecycles, PodLifecycle


class Pod(Ensemble):
    """Plays the stages of everything but nodes."""

    name: ClassVar[str] = "pod"
    parts = (PodLifecycle, OtherLifecycles)
