"""The cluster controllers, as cooperative work queues."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.controllers.drain.options import (
        DRAIN,
        DRAINED,
        DrainHold,
        DrainOptions,
        DrainRecord,
        NodeReplacement,
        read_drain_options,
    )
    from seatrial.controllers.registry import OFF_BY_DEFAULT, build_controllers, controller_names
    from seatrial.controllers.stages.lifecycle import default_stage_documents
    from seatrial.controllers.usage import node_metrics, parse_usage, pod_metrics, pod_usage
else:
    __getattr__, __dir__ = lazy_exports(__name__)
