"""Evaluators: which nodes pass the filters, and what they score.

`plain` is the specification. All other modules are shortcuts that give the same answers; those named `kernel` call
the compiled kernel, which is optional.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.scheduler.evaluator.cached import CachedEvaluator
    from seatrial.scheduler.evaluator.interface import Evaluator, Found, Scored
    from seatrial.scheduler.evaluator.kernel import KernelEvaluator
    from seatrial.scheduler.evaluator.kernel_choice import chosen_kernel, kernel_in_use
    from seatrial.scheduler.evaluator.plain import PlainEvaluator
    from seatrial.scheduler.evaluator.shortcuts import Shortcuts, chosen_shortcuts

__all__ = [
    "CachedEvaluator",
    "Evaluator",
    "Found",
    "KernelEvaluator",
    "PlainEvaluator",
    "Scored",
    "Shortcuts",
    "chosen_kernel",
    "chosen_shortcuts",
    "kernel_in_use",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "CachedEvaluator": "cached",
            "Evaluator": "interface",
            "Found": "interface",
            "KernelEvaluator": "kernel",
            "PlainEvaluator": "plain",
            "Scored": "interface",
            "Shortcuts": "shortcuts",
            "chosen_kernel": "kernel_choice",
            "chosen_shortcuts": "shortcuts",
            "kernel_in_use": "kernel_choice",
        },
    )
