"""kube-scheduler: which pod goes to which node, as v1.36.3 decides it.

Other rooms import from here and from the faces of the folders below, never from a module inside them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.scheduler.node_admission import Rejection, admission_check
    from seatrial.scheduler.schedule_one.decision import Decision, Preemption
    from seatrial.scheduler.schedule_one.outcomes import ERROR, SCHEDULED, UNSCHEDULABLE, WAITING
    from seatrial.scheduler.schedule_one.recorder import ANNOTATOR, BothRecorders, ListRecorder, NoRecorder, Recorder
    from seatrial.scheduler.scheduler import Scheduler

__all__ = [
    "ANNOTATOR",
    "ERROR",
    "SCHEDULED",
    "UNSCHEDULABLE",
    "WAITING",
    "BothRecorders",
    "Decision",
    "ListRecorder",
    "NoRecorder",
    "Preemption",
    "Recorder",
    "Rejection",
    "Scheduler",
    "admission_check",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "ANNOTATOR": "schedule_one.recorder",
            "BothRecorders": "schedule_one.recorder",
            "Decision": "schedule_one.decision",
            "ERROR": "schedule_one.outcomes",
            "ListRecorder": "schedule_one.recorder",
            "NoRecorder": "schedule_one.recorder",
            "Preemption": "schedule_one.decision",
            "Recorder": "schedule_one.recorder",
            "Rejection": "node_admission",
            "SCHEDULED": "schedule_one.outcomes",
            "Scheduler": "scheduler",
            "UNSCHEDULABLE": "schedule_one.outcomes",
            "WAITING": "schedule_one.outcomes",
            "admission_check": "node_admission",
        },
    )
