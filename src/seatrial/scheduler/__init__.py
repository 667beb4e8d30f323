"""kube-scheduler: which pod goes to which node, as v1.36.3 decides it.

Other rooms import from here and from the faces of the folders below, never from a module inside them.
"""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.scheduler.node_admission import Occupant, Rejection, admission_check
    from seatrial.scheduler.schedule_one.decision import Decision, Preemption
    from seatrial.scheduler.schedule_one.outcomes import ERROR, SCHEDULED, UNSCHEDULABLE, WAITING
    from seatrial.scheduler.schedule_one.recorder import ANNOTATOR, BothRecorders, ListRecorder, NoRecorder, Recorder
    from seatrial.scheduler.scheduler import Scheduler
else:
    __getattr__, __dir__ = lazy_exports(__name__)
