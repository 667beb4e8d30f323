"""Tunes Python's garbage collector for a run, which makes many objects and few cycles."""

import atexit
import gc

THRESHOLDS = (50_000, 20, 100)


def tune_collector(young: int = THRESHOLDS[0]) -> None:
    """Collect rarely, and never scan the objects that exist before the run, nor at exit those that the run leaves.

    `young`: how many objects are made between collections. What a fresh process has imported and read is no garbage,
    so that it is frozen as it is; what an earlier run in the same process has left is collected.
    """
    if gc.get_freeze_count():
        gc.collect()
    gc.freeze()
    gc.set_threshold(young, *THRESHOLDS[1:])
    # The interpreter would look for cycles in all objects at exit, just before the system takes the memory back.
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
