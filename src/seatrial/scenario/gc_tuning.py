"""Tunes Python's garbage collector for a run, which makes many objects and few cycles."""

import gc

THRESHOLDS = (50_000, 20, 100)


def tune_collector() -> None:
    """Collect rarely, and never scan the objects that exist before the run."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
