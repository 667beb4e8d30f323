"""The building blocks of controllers: the work queue, the pod index, pod control, controller revisions, conditions."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.controllers.framework.controller import FIRST_RETRY, Context, Ensemble, Key, Listener, QueueController
    from seatrial.controllers.framework.events import EventRecorder, EventType
    from seatrial.controllers.framework.kubelet import Kubelet
    from seatrial.controllers.framework.pod_control import FROM_TEMPLATE, controller_of, controller_reference
    from seatrial.controllers.framework.pod_index import PodIndex

__all__ = [
    "FIRST_RETRY",
    "FROM_TEMPLATE",
    "Context",
    "Ensemble",
    "EventRecorder",
    "EventType",
    "Key",
    "Kubelet",
    "Listener",
    "PodIndex",
    "QueueController",
    "controller_of",
    "controller_reference",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Context": "controller",
            "FIRST_RETRY": "controller",
            "Ensemble": "controller",
            "EventRecorder": "events",
            "EventType": "events",
            "FROM_TEMPLATE": "pod_control",
            "Key": "controller",
            "Kubelet": "kubelet",
            "Listener": "controller",
            "PodIndex": "pod_index",
            "QueueController": "controller",
            "controller_of": "pod_control",
            "controller_reference": "pod_control",
        },
    )
