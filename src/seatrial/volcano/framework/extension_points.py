"""The extension points of Volcano's plugins, and which flag of the configuration turns each one off.

Upstream: pkg/scheduler/framework/session_plugins.go (the Add…Fn methods and the flags they are guarded by).
"""

from enum import Enum

PERMIT, ABSTAIN, REJECT = 1, 0, -1
"""A plugin's vote."""


class Point(Enum):
    """An extension point; the value is the number it has and the flag that turns it off."""

    JOB_ORDER = (1, "enableJobOrder")
    QUEUE_ORDER = (2, "enableQueueOrder")
    VICTIM_QUEUE_ORDER = (3, "")
    TASK_ORDER = (4, "enableTaskOrder")
    SUB_JOB_ORDER = (5, "enabledSubJobOrder")
    PRE_PREDICATE = (6, "enablePredicate")
    PREDICATE = (7, "enablePredicate")
    NODE_ORDER = (8, "enableNodeOrder")
    BATCH_NODE_ORDER = (9, "enableNodeOrder")
    BEST_NODE = (10, "enableBestNode")
    HYPER_NODE_ORDER = (11, "enabledHyperNodeOrder")
    HYPER_NODE_GRADIENT_FOR_JOB = (12, "enabledHyperNodeGradient")
    HYPER_NODE_GRADIENT_FOR_SUB_JOB = (13, "enabledHyperNodeGradient")
    PREEMPTABLE = (14, "enablePreemptable")
    RECLAIMABLE = (15, "enableReclaimable")
    UNIFIED_EVICTABLE = (16, "")
    OVERUSED = (17, "enabledOverused")
    PREEMPTIVE = (18, "enablePreemptive")
    ALLOCATABLE = (19, "enabledAllocatable")
    JOB_READY = (20, "enableJobReady")
    JOB_PIPELINED = (21, "enableJobPipelined")
    SUB_JOB_READY = (22, "enabledSubJobReady")
    SUB_JOB_PIPELINED = (23, "enabledSubJobPipelined")
    JOB_VALID = (24, "")
    JOB_ENQUEUEABLE = (25, "enableJobEnqueued")
    JOB_ENQUEUED = (26, "enableJobEnqueued")
    JOB_STARVING = (27, "enableJobStarving")
    VICTIM_TASKS = (28, "enabledVictim")

    __hash__ = object.__hash__

    @property
    def flag(self) -> str:
        return self.value[1]
