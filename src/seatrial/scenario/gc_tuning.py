"""A run makes many objects and few cycles: the garbage collector is told so."""

import gc

THRESHOLDS = (50_000, 20, 100)


def tune_collector() -> None:
    """Collect rarely, and never look again at what is there before the run."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
