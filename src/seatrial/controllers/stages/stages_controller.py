"""Lifecycles by stages: of pods, and of all other kinds that Stage objects refer to."""

from typing import ClassVar

from seatrial.controllers.framework.controller import Ensemble
from seatrial.controllers.stages.lifecycle import OtherLifecycles, PodLifecycle


class StagesController(Ensemble):
    """Runs the stages of all kinds but nodes."""

    name: ClassVar[str] = "pod"
    parts = (PodLifecycle, OtherLifecycles)
