"""Volcano's controllers in the order in which they take their turns."""

from collections.abc import Sequence
from typing import ClassVar

from seatrial.clock import Clock
from seatrial.controllers.framework import Context, Ensemble, EventRecorder, PodIndex, QueueController
from seatrial.store import Store
from seatrial.volcano.controllers.cronjob import VolcanoCronJob
from seatrial.volcano.controllers.garbagecollector import VolcanoGarbageCollector
from seatrial.volcano.controllers.job.controller import VolcanoJob
from seatrial.volcano.controllers.jobflow import VolcanoJobFlow, VolcanoJobTemplate
from seatrial.volcano.controllers.podgroup import VolcanoPodGroup
from seatrial.volcano.controllers.queue import VolcanoQueue


class VolcanoControllers(Ensemble):
    """vc-controller-manager: the controllers of queues, PodGroups, Jobs and what creates or ends Jobs, as one."""

    name: ClassVar[str] = "volcano-controllers"
    parts: ClassVar[Sequence[type[QueueController]]] = (
        VolcanoQueue,
        VolcanoPodGroup,
        VolcanoJob,
        VolcanoGarbageCollector,
        VolcanoJobTemplate,
        VolcanoJobFlow,
        VolcanoCronJob,
    )


def build_controllers(store: Store, clock: Clock, events: EventRecorder | None = None) -> VolcanoControllers:
    """The controllers for a store that serves Volcano's kinds, not yet started."""
    return VolcanoControllers(Context(store, clock, PodIndex(store), events=events))
