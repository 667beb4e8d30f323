"""The building blocks of controllers: the work queue, the pod index, pod control, controller revisions, conditions."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.controllers.framework.controller import FIRST_RETRY, Context, Ensemble, Key, Listener, QueueController
    from seatrial.controllers.framework.events import EventRecorder, EventType
    from seatrial.controllers.framework.kubelet import Kubelet
    from seatrial.controllers.framework.pod_control import FROM_TEMPLATE, controller_of, controller_reference
    from seatrial.controllers.framework.pod_index import PodIndex
else:
    __getattr__, __dir__ = lazy_exports(__name__)
