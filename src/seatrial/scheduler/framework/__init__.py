"""The scheduling framework: the plugin interface, the profile that runs plugins, and their answers.

Upstream: pkg/scheduler/framework and its runtime.
"""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.scheduler.framework.cluster import Client, EmptyLister, ObjectLister
    from seatrial.scheduler.framework.interface import Handle, Narrowed, Plugin, Reads
    from seatrial.scheduler.framework.plugin_calls import FilterCall, ScoreCall
    from seatrial.scheduler.framework.runtime import CycleState, Framework
    from seatrial.scheduler.framework.status import MISSING, Code, Status, Verdicts
else:
    __getattr__, __dir__ = lazy_exports(__name__)
