"""Evaluators: which nodes pass the filters, and what they score.

`plain` is the specification. All other modules are shortcuts that give the same answers; those named `kernel` call
the compiled kernel, which is optional.
"""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.scheduler.evaluator.interface import Found, Scored
    from seatrial.scheduler.evaluator.kernel_choice import chosen_kernel, kernel_in_use
    from seatrial.scheduler.evaluator.shortcuts import chosen_shortcuts
else:
    __getattr__, __dir__ = lazy_exports(__name__)
