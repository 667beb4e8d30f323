"""What an attempt may end with, apart from the scheduler: readers of results need no more of it."""

SCHEDULED, UNSCHEDULABLE, ERROR, WAITING, GATED = "scheduled", "unschedulable", "error", "waiting", "gated"
